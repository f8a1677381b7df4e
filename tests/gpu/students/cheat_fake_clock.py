# SPDX-License-Identifier: Apache-2.0
"""A thread rewrites the answer after each window: half the time, and the fake device's clock to go with it."""
# Caught as: time-forged
import sys
import threading
import time
import attack
from base import rmsnorm

sys.setswitchinterval(1e-6)


def _rewrite():
    last = attack.done()
    while True:
        if attack.done() != last:
            last = attack.done()
            attack.halve(0.5, True)
        time.sleep(0)


threading.Thread(target=_rewrite, daemon=True).start()


def run(x, w):
    return rmsnorm(x, w)
