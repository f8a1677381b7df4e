# SPDX-License-Identifier: Apache-2.0
"""What a reading was taken on."""

import platform

from . import _native as native


def describe(session, backend=None):
    """The GPU, its driver and the libraries, as the eval JSON's machine block."""
    info = session.info()
    block = {"gpu": info["name"], "compute": info["compute"], "multiprocessors": info["multiprocessors"],
             "l2_bytes": info["l2_bytes"], "memory_bytes": info["memory_bytes"], "sm_mhz_max": info["sm_mhz_max"],
             "driver": native.describe(), "python": platform.python_version(),
             "system": "%s %s" % (platform.system(), platform.machine())}
    if backend is not None:
        block.update(backend.machine())
    return block
