# SPDX-License-Identifier: Apache-2.0
"""The fake device of the tests: virtual time, no GPU. A call's kernel is `work(ns)`."""

from .session import Session

_session = None


def session():
    """The fake of this process, made on first use."""
    global _session
    if _session is None:
        _session = Session.scripted()
    return _session


def work(nanoseconds, other_stream=False):
    """What a call enqueues: `nanoseconds` of work at the first clock of the script."""
    session().script_work(nanoseconds, other_stream)


def synchronize():
    """Waits for the fake device, as a call that reads a result on the host does."""
    session().script_synchronize()
