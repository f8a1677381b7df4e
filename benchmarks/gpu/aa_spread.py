# SPDX-License-Identifier: Apache-2.0
"""A/A: how far two readings of the same kernel differ, by method; 20 pairs each, all methods in one run. And over many
pairs of one kernel: how often the smallest difference that the harness claims covers the one observed.
Usage: aa_spread.py OUT.json [--pairs 20] [--cover 200] [--limit-s 240] [--kernels 3us,50us]"""
import argparse
import statistics
import time

import torch
import triton

import plumbline
from common import DEVICE, Results, gemm, memory_kernel, pair, repeat, spread, window_calls
from plumbline import machine


def events(fn, flush, count=50):
    for _ in range(5):
        fn()
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for begin, end in marks:
        flush.zero_()
        begin.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(b.elapsed_time(e) for b, e in marks)


def graphed(calls, count=100):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        calls[0]()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in repeat(calls, count):
            call()
    graph.replay()

    def read():
        values = []
        for _ in range(7):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            graph.replay()
            b.record()
            torch.cuda.synchronize()
            values.append(a.elapsed_time(b) / count)
        return statistics.median(values)
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--cover", type=int, default=200)
    parser.add_argument("--limit-s", type=float, default=240)
    parser.add_argument("--kernels", default="3us,10us,50us,500us,gemm4096")
    options = parser.parse_args()
    torch.zeros(1, device=DEVICE)
    session = plumbline.Session.cuda(0)
    results = Results(options.out, machine=machine.describe(session), overhead=session.overhead(),
                      pairs=options.pairs, kernels={})
    flush = torch.empty(256 << 20, dtype=torch.int8, device=DEVICE)
    started = time.monotonic()
    lengths = {"3us": 3, "10us": 10, "50us": 50, "500us": 500, "gemm4096": None}
    for name in options.kernels.split(","):
        length = lengths[name]
        calls = gemm() if length is None else memory_kernel(length)
        rows = {}
        methods = {"do_bench": lambda: triton.testing.do_bench(calls[0], warmup=25, rep=100, return_mode="median"),
                   "events_flush": lambda: events(calls[0], flush), "graph": graphed(calls)}
        for method, read in methods.items():
            ratios, values = [], []
            for _ in range(options.pairs):
                a, b = read(), read()
                ratios.append(a / b)
                values.append(a)
            rows[method] = dict(spread(ratios), us=statistics.median(values) * 1e3)
        count = window_calls(session, calls)
        ratios, values, claims, took = [], [], [], []
        for _ in range(options.pairs):
            one = pair(session, calls, calls, count, noise=0.0005, time_limit_s=1.0, aa_rounds=8, min_rounds=12,
                       max_rounds=60)
            ratios.append(one.ratio)
            values.append(one.reference.ms)
            claims.append(one.smallest_difference)
            took.append(one.seconds)
        rows["plumbline"] = dict(spread(ratios), us=statistics.median(values) * 1e3, calls_per_window=count,
                                 smallest_difference=statistics.median(claims), seconds=statistics.median(took),
                                 covered=sum(abs(r - 1) <= c for r, c in zip(ratios, claims)))
        results.data["kernels"][name] = rows
        results.write()
        print(name, {m: "%.2f us p95 %.3f%%" % (r["us"], r["p95"] * 100) for m, r in rows.items()}, flush=True)
        del calls, methods
        torch.cuda.empty_cache()
    if options.cover:
        cover(session, results, options, started)


def cover(session, results, options, started):
    """How often the smallest difference that is claimed covers the one observed."""
    calls = memory_kernel(50)
    count = window_calls(session, calls)
    rows = []
    while len(rows) < options.cover and time.monotonic() - started < options.limit_s:
        one = pair(session, calls, calls, count, noise=0.0005, time_limit_s=0.5, aa_rounds=8, min_rounds=12,
                   max_rounds=40)
        rows.append({"ratio": one.ratio, "claim": one.smallest_difference, "dropped": one.dropped})
    covered = sum(abs(r["ratio"] - 1) <= r["claim"] for r in rows)
    results.put("coverage", {"kernel": "50us", "pairs": len(rows), "covered": covered,
                             "claim_median": statistics.median(r["claim"] for r in rows),
                             "claim_max": max(r["claim"] for r in rows), "rows": rows})
    print("coverage", covered, "of", len(rows), "claim median %.4f%% max %.4f%%" % (
        100 * results.data["coverage"]["claim_median"], 100 * results.data["coverage"]["claim_max"]))


if __name__ == "__main__":
    main()
