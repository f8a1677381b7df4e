# SPDX-License-Identifier: Apache-2.0
"""A tool of sys.monitoring does the work at the next call of Python after the window."""
# Caught as: mode-active wrong-output late-work
import sys
import attack

_behind = attack.Behind()
sys.monitoring.use_tool_id(2, "tool")
sys.monitoring.register_callback(2, sys.monitoring.events.PY_START, lambda *_: _behind.step())
sys.monitoring.set_events(2, sys.monitoring.events.PY_START)


def run(x, w):
    return _behind.note(x, w)
