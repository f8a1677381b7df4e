# SPDX-License-Identifier: Apache-2.0
"""Ends the process that watches over it, and goes on in a child that detached."""
# Caught as: worker-died student-raised
import os
import signal
from base import rmsnorm

if os.fork():
    os.kill(os.getppid(), signal.SIGKILL)
else:
    os.setsid()


def run(x, w):
    return rmsnorm(x, w)
