# SPDX-License-Identifier: Apache-2.0
"""A thread does the work once the window is over, right into the memory that the harness takes outputs from."""
# Caught as: wrong-output late-work
import threading
from attack import Behind

_behind = Behind()
threading.Thread(target=_behind.loop, daemon=True).start()

def run(x, w):
    return _behind.note(x, w)
