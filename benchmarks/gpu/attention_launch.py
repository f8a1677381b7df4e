# SPDX-License-Identifier: Apache-2.0
"""A launch script as a profiler or the recorder sees it: `attention_launch.py ref|stu [--calls 20] [--nvtx] [--torch OUT]
[--window OUT]`. --torch profiles the same calls with PyTorch's profiler; --window reads them with the harness."""
import argparse
import json
import time

import torch

import plumbline
from plumbline import machine

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_backward


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=["ref", "stu"])
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--nvtx", action="store_true")
    parser.add_argument("--torch")
    parser.add_argument("--window")
    options = parser.parse_args()
    torch.manual_seed(0)
    q, k, v, do = (torch.randn(2, 16, 2048, 128, device="cuda", dtype=torch.bfloat16) for _ in range(4))

    def forward():
        return FORWARD(q, k, v, 0.0, True, return_debug_mask=False)

    def backward(f):
        return BACKWARD(do, q, k, v, f[0], f[1], f[2], f[3], f[4], f[5], 0.0, True, f[6], f[7])
    saved = forward()
    call = (lambda: backward(saved)) if options.side == "ref" else (lambda: backward(forward()))
    for _ in range(20):
        call()
    torch.cuda.synchronize()
    if options.torch:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(options.calls):
                call()
            torch.cuda.synchronize()
        rows = {e.key: [e.count, e.self_device_time_total * 1e3] for e in profile.key_averages()}
        with open(options.torch, "w", encoding="utf-8") as out:
            json.dump({"calls": options.calls, "kernels": rows, "machine": machine.describe(plumbline.Session.cuda(0))}, out,
                      indent=1)
        return
    session = plumbline.Session.cuda(0) if options.window else None

    def windows():
        values = []
        for _ in range(12):
            session.flush()
            values.append(session.pipelined([call] * options.calls).ms)
        return values
    if options.nvtx:
        torch.cuda.nvtx.range_push("region")
    else:
        torch.cuda.profiler.start()
    begin = time.perf_counter()
    if session is not None:
        # The region holds the windows themselves, so that their reading and the table are of the same launches.
        values = windows()
        count = 12 * options.calls
    else:
        for _ in range(options.calls):
            call()
        count = options.calls
    torch.cuda.synchronize()
    took = time.perf_counter() - begin
    plumbline.record_calls(count)
    if options.nvtx:
        torch.cuda.nvtx.range_pop()
    else:
        torch.cuda.profiler.stop()
    if session is not None:
        with open(options.window, "w", encoding="utf-8") as out:
            json.dump({"calls": options.calls, "recording": plumbline.recording(), "pipelined_ms": values,
                       "region_s": took, "machine": machine.describe(session)}, out, indent=1)


if __name__ == "__main__":
    main()
