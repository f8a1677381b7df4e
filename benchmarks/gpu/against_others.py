# SPDX-License-Identifier: Apache-2.0
"""Six kernels read by Triton's do_bench, PyTorch's profiler and this harness, in one run, ten times each.
Usage: against_others.py OUT.json"""
import statistics
import sys

import torch
import triton

import plumbline
from common import DEVICE, Results, gemm, memory_kernel, repeat, window_calls
from plumbline import machine


def softmax(sets=4):
    inputs = [torch.randn(8192, 4096, device=DEVICE, dtype=torch.bfloat16) for _ in range(sets)]
    return [lambda x=x: torch.softmax(x, -1) for x in inputs]


def layer_norm(sets=4):
    weight = torch.ones(4096, device=DEVICE, dtype=torch.bfloat16)
    inputs = [torch.randn(8192, 4096, device=DEVICE, dtype=torch.bfloat16) for _ in range(sets)]
    return [lambda x=x: torch.nn.functional.layer_norm(x, (4096,), weight) for x in inputs]


def attention(sets=4):
    shape = (2, 16, 2048, 128)
    inputs = [[torch.randn(shape, device=DEVICE, dtype=torch.bfloat16) for _ in range(3)] for _ in range(sets)]
    return [lambda i=i: torch.nn.functional.scaled_dot_product_attention(*i, is_causal=True) for i in inputs]


def profiled(calls, count=20):
    """Mean kernel time of a call by PyTorch's profiler, microseconds."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for call in repeat(calls, count):
            call()
        torch.cuda.synchronize()
    total = sum(e.self_device_time_total for e in profile.key_averages())
    return total / count


def main():
    torch.zeros(1, device=DEVICE)
    session = plumbline.Session.cuda(0)
    results = Results(sys.argv[1], machine=machine.describe(session), overhead=session.overhead(), kernels={})
    kernels = {"add 3 us": memory_kernel(3), "add 50 us": memory_kernel(50), "softmax 8192x4096": softmax(),
               "layer_norm 8192x4096": layer_norm(), "attention b2 h16 s2048 d128": attention(), "gemm 4096": gemm()}
    for name, calls in kernels.items():
        for call in calls[:2] * 3:
            call()
        torch.cuda.synchronize()
        count = window_calls(session, calls)

        def ours():
            session.flush()
            return statistics.median(session.pipelined(repeat(calls, count)).ms for _ in range(9)) * 1e3

        def hot():
            return statistics.median(session.pipelined(repeat(calls[:1], count)).ms for _ in range(9)) * 1e3

        def single():
            return statistics.median(r.ms for r in session.per_call(repeat(calls, 24))) * 1e3
        methods = {"do_bench": lambda: triton.testing.do_bench(calls[0], warmup=10, rep=50, return_mode="median") * 1e3,
                   "torch_profiler": lambda: profiled(calls), "pipelined": ours, "pipelined_one_set": hot,
                   "per_call": single}
        row = {}
        for _ in range(10):  # interleaved, so that all see the same clocks
            for method, read in methods.items():
                row.setdefault(method, []).append(read())
        row = {m: {"us": statistics.median(v), "spread": (max(v) - min(v)) / statistics.median(v), "samples": v}
               for m, v in row.items()}
        results.data["kernels"][name] = row
        results.write()
        print("%-28s" % name, {m: "%.2f us (%.2f%%)" % (r["us"], 100 * r["spread"]) for m, r in row.items()}, flush=True)


if __name__ == "__main__":
    main()
