# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is, told to `plumbline iterate`: of a bench that is ended from outside it says whose doing that was.

A word of 64 bytes at the descriptor that PLUMBLINE_EVAL_PHASE_FD names: "harness", "reference", "student", "student here" (in the
harness's own process), "waiting" (for another measurement on the GPU) or "failed CODE". A student's process has no such descriptor."""

import os

_SIZE = 64
_NAMED = os.environ.get("PLUMBLINE_EVAL_PHASE_FD", "")
_FILE = int(_NAMED) if _NAMED.isdigit() else None


def say(word):
    """Says it; nothing where nobody asked."""
    if _FILE is None:
        return
    try:
        os.pwrite(_FILE, word.encode()[:_SIZE - 1].ljust(_SIZE - 1) + b"\n", 0)
    except OSError:
        pass  # a bench that was started by hand in an environment that names a descriptor
