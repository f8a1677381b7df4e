# SPDX-License-Identifier: Apache-2.0
"""Makes the harness's shared memory writable and says in the middle of a call that the window is over."""
# Caught as: late-work window-forged time-forged worker-died worker-answer
import ctypes
from base import rmsnorm

_libc = ctypes.CDLL(None, use_errno=True)
_places = []
with open("/proc/self/maps") as _maps:
    for _line in _maps:
        if "plumbline" in _line and "memfd" in _line:
            _start, _end = (int(part, 16) for part in _line.split()[0].split("-"))
            if _libc.mprotect(ctypes.c_void_p(_start), ctypes.c_size_t(_end - _start), 3) == 0:
                _places.append(_start)


def run(x, w):
    out = rmsnorm(x, w)
    for place in _places:
        for offset in (0, 128, 256):
            ctypes.c_int32.from_address(place + offset).value = 1 << 30
    return out
