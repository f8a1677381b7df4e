# SPDX-License-Identifier: Apache-2.0
"""Makes the harness's page of driver functions writable and has the elapsed time halved there."""
# Caught as: time-forged patched worker-died
import ctypes
import attack
from base import rmsnorm

_kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_float), ctypes.c_void_p, ctypes.c_void_p)
_address, _places = attack.driver_words("cuEventElapsedTime")
_true = _kind(_address)


@_kind
def _half(out, start, end):
    code = _true(out, start, end)
    out[0] = out[0] * 0.5
    return code


for _place in _places:
    ctypes.c_uint64.from_address(_place).value = ctypes.cast(_half, ctypes.c_void_p).value


def run(x, w):
    return rmsnorm(x, w)
