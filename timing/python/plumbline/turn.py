# SPDX-License-Identifier: Apache-2.0
"""One measurement at a time on a GPU: what else runs there is in the readings."""

import contextlib
import fcntl
import os
import tempfile
import time


@contextlib.contextmanager
def of_gpu(uuid):
    """Waits until no other harness of this machine measures on the GPU of that name. Gives the seconds that this took; 0 where the
    lock cannot be had (a read-only folder, another user's file) and for the scripted device, which nobody shares (None)."""
    if uuid is None:
        yield 0.0
        return
    path = os.path.join(tempfile.gettempdir(), "plumbline-%s.lock" % "".join(c if c.isalnum() else "-" for c in uuid or "gpu"))
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError:
        yield 0.0
        return
    started = time.monotonic()
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield time.monotonic() - started
    finally:
        os.close(file)
