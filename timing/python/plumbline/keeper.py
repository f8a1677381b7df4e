# SPDX-License-Identifier: Apache-2.0
"""A process between the harness and one side: it gets every orphan among the side's descendants, and ends them all once
the side has ended or the harness is gone, however that came about.

Arguments: two descriptors that the harness holds the other ends of (it ends, this ends); the descriptors that are the side's own, with commas;
the side's command as JSON."""

import ctypes
import json
import os
import select
import signal
import sys

from . import processes

_PR_SET_PDEATHSIG = 1


def _become(command, ends):
    """In the side's own process, before its program."""
    keeper = os.getppid()
    for end in ends:
        os.close(end)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == keeper:
        os.execv(command[0], command)
    os._exit(127)


def _end_all():
    processes.signal_descendants(os.getpid(), signal.SIGKILL)
    processes.reap()


def _watch(life, side):
    """Until the side has ended (its wait status) or the harness is gone (None)."""
    while True:
        # Orphans end here too; 20 ms is how late the end of the side is noticed.
        ended = processes.reap()
        if side in ended:
            return ended[side]
        if select.select([life], [], [], 0.02)[0] and not os.read(life, 1):
            return None


def main():
    """Entry point."""
    ends, files, command = [int(end) for end in sys.argv[-3].split(",")], sys.argv[-2], json.loads(sys.argv[-1])
    life = ends[0]
    if select.select([life], [], [], 0)[0]:
        os._exit(1)  # the harness went while this process started
    processes.become_subreaper()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a terminal's: the harness decides, and closes its end
    side = os.fork()
    if side == 0:
        try:
            _become(command, ends)
        finally:
            os._exit(127)
    for file in files.split(","):
        os.close(int(file))
    status = _watch(life, side)
    _end_all()
    os._exit(1 if status is None else 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
