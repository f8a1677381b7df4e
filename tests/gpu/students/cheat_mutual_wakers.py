# SPDX-License-Identifier: Apache-2.0
"""Processes that load the GPU and wake each other as soon as somebody stops them."""
# Caught as: interference late-work
import os
import subprocess
import sys
import tempfile
from base import rmsnorm

_LOAD = """
import os, signal, sys, threading, time
folder = sys.argv[1]
open(os.path.join(folder, str(os.getpid())), "w").close()
if os.fork() == 0:
    os.setsid()
    open(os.path.join(folder, str(os.getpid())), "w").close()
def wake():
    while True:
        for name in os.listdir(folder):
            if name != str(os.getpid()):
                try:
                    os.kill(int(name), signal.SIGCONT)
                except OSError:
                    pass
threading.Thread(target=wake, daemon=True).start()
if len(sys.argv) > 2:
    import torch
    a = torch.randn(4096, 4096, device="cuda")
    while True:
        torch.mm(a, a)
        torch.cuda.synchronize()
time.sleep(600)
"""
_folder = tempfile.mkdtemp()
for _more in ([], [], ["load"]):
    subprocess.Popen([sys.executable, "-c", _LOAD, _folder, *_more], stdin=subprocess.DEVNULL, start_new_session=True)


def run(x, w):
    return rmsnorm(x, w)
