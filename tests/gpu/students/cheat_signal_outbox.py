# SPDX-License-Identifier: Apache-2.0
"""As cheat_late_outbox, from a signal handler that a timer calls."""
# Caught as: wrong-output late-work student-raised
import signal
from attack import Behind

_behind = Behind()
signal.signal(signal.SIGALRM, lambda *_: _behind.step())
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)


def run(x, w):
    return _behind.note(x, w)
