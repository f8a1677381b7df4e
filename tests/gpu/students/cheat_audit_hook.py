# SPDX-License-Identifier: Apache-2.0
"""An audit hook does the work, when the harness looks into a folder after the window."""
# Caught as: wrong-output late-work
import sys
import attack

_behind = attack.Behind()
sys.addaudithook(lambda event, _: _behind.step() if event.startswith("os.") else None)


def run(x, w):
    return _behind.note(x, w)
