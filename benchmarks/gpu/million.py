# SPDX-License-Identifier: Apache-2.0
"""A million launches in the profiled region, for the recorder. Usage: million.py [COUNT]"""
import sys
import time

import torch

import plumbline


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    torch.zeros(1, device="cuda")
    session = plumbline.Session.cuda(0)
    session.drain()
    torch.cuda.profiler.start()
    begin = time.perf_counter()
    spin = session._held.pl_spin
    handle = session._handle
    for _ in range(count):
        spin(handle, 0, 0)
    session.drain()
    took = time.perf_counter() - begin
    plumbline.record_calls(1)
    torch.cuda.profiler.stop()
    print("%d launches in %.2f s" % (count, took), flush=True)


if __name__ == "__main__":
    main()
