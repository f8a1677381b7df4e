# SPDX-License-Identifier: Apache-2.0
"""A thread that counts, as a logger's would."""
import threading
import time
from base import rmsnorm

_beats = [0]


def _beat():
    while True:
        _beats[0] += 1
        time.sleep(0.05)


threading.Thread(target=_beat, daemon=True).start()


def run(x, w):
    return rmsnorm(x, w)
