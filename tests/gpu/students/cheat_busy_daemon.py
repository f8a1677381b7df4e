# SPDX-License-Identifier: Apache-2.0
"""A process that detached twice, with a session of its own, loads the GPU whenever this side is not being read."""
# Caught as: interference late-work time-forged
import mmap
import os
import subprocess
import sys
import tempfile
import time
from base import rmsnorm

_SCRIPT = r"""
import mmap, os, sys, time
import torch
seen = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 8)
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
end = time.monotonic() + 60
while time.monotonic() < end:
    if time.monotonic_ns() - int.from_bytes(seen[:8], "little") > 8_000_000:
        for _ in range(4):
            torch.mm(a, a)
        torch.cuda.synchronize()
    else:
        time.sleep(0.0005)
"""
_file, _path = tempfile.mkstemp()
os.write(_file, bytes(8))
_seen = mmap.mmap(_file, 8)
_between = "import os, sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execv(sys.executable, " \
           "[sys.executable, '-c'] + sys.argv[1:])"
subprocess.run([sys.executable, "-c", _between, _SCRIPT, _path], stdin=subprocess.DEVNULL, check=True)
time.sleep(4)


def run(x, w):
    _seen[:8] = time.monotonic_ns().to_bytes(8, "little")
    return rmsnorm(x, w)
