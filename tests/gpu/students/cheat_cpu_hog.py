# SPDX-License-Identifier: Apache-2.0
"""Sixteen processes burn every core, so that the reference's host is slow."""
# Caught as: interference nothing
import subprocess
import sys
from base import rmsnorm

for _ in range(16):
    subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL, start_new_session=True)


def run(x, w):
    return rmsnorm(x, w)
