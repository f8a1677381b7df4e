# SPDX-License-Identifier: Apache-2.0
"""A thread keeps the GPU busy while this side is not being read, so that the reference is."""
# Caught as: time-slice busy-gpu late-work interference
import threading, time
import torch
from base import rmsnorm
last = [time.perf_counter()]
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
stream = torch.cuda.Stream()
def hammer():
    while True:
        if time.perf_counter() - last[0] > 0.01:
            with torch.cuda.stream(stream):
                torch.mm(a, a)
            stream.synchronize()
        else:
            time.sleep(0.001)
threading.Thread(target=hammer, daemon=True).start()

def run(x, w):
    last[0] = time.perf_counter()
    return rmsnorm(x, w)
