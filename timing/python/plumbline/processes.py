# SPDX-License-Identifier: Apache-2.0
"""Descendants of a process, however they detached: signalled together. Linux only, as the rest."""

import ctypes
import os

from . import _native as native


def signal_descendants(root, number, spared=()):
    """Signals every descendant of process `root` but not itself, and not `spared` and theirs; returns how many there were.
    SIGKILL is repeated until none is left, SIGSTOP until no new one shows."""
    found = ctypes.c_int32()
    left_alone = (ctypes.c_int32 * max(len(spared), 1))(*spared)
    native.check(native.free_library.pl_signal_descendants(root, number, left_alone, len(spared), ctypes.byref(found)))
    return found.value


def become_subreaper():
    """From now on the orphans among this process's descendants are its own children, whatever they did to detach."""
    native.check(native.free_library.pl_subreaper())


def reap():
    """Waits for whatever has ended and is this process's child; returns {process: status}."""
    ended = {}
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if process == 0:
            return ended
        ended[process] = status
