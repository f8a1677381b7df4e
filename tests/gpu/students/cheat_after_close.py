# SPDX-License-Identifier: Apache-2.0
"""Returns an empty tensor; a thread does the work once the window is closed."""
# Caught as: late-work wrong-output worker-died student-raised
import threading
import time
import torch
from base import rmsnorm

def _later(x, w, out):
    time.sleep(0.002)
    with torch.cuda.stream(torch.cuda.Stream()):
        out.copy_(rmsnorm(x, w))

def run(x, w):
    out = torch.empty_like(x)
    threading.Thread(target=_later, args=(x, w, out)).start()
    return out
