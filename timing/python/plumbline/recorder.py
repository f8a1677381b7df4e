# SPDX-License-Identifier: Apache-2.0
"""What a launch script tells the recorder that was injected into it."""

import ctypes
import os


def recording():
    """Is the recorder injected into this process?"""
    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    return os.path.basename(path) == "libplumbline_recorder.so"


def record_calls(count):
    """Says that the profiled region holds `count` window calls, so that the table has a time per call. Does nothing
    where the recorder is not injected."""
    if not recording():
        return False
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    library.plumbline_recorder_calls(ctypes.c_int64(count))
    return True
