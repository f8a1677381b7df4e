# SPDX-License-Identifier: Apache-2.0
"""A timer's signal and an audit hook, as a watchdog and a logger leave them."""
import signal
import sys
from base import rmsnorm

_seen = []
signal.signal(signal.SIGALRM, lambda *_: _seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
sys.addaudithook(lambda event, _: None)


def run(x, w):
    return rmsnorm(x, w)
