# SPDX-License-Identifier: Apache-2.0
"""The GPU itself writes the closing mark after the first call, and the page of driver functions says a twelfth."""
# Caught as: late-work time-forged worker-died worker-answer window-forged
import ctypes
import torch
import attack
from base import rmsnorm

_cuda = ctypes.CDLL("libcuda.so.1")
_device = ctypes.c_uint64()
_cuda.cuMemHostGetDevicePointer_v2(ctypes.byref(_device), ctypes.c_void_p(attack.MARKS), 0)
_closed = torch.as_tensor(attack.Memory(_device.value + 256, (1,), "<i4"), device="cuda") if _device.value else None
_kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_float), ctypes.c_void_p, ctypes.c_void_p)
_address, _places = attack.driver_words("cuEventElapsedTime")
_true = _kind(_address)


@_kind
def _less(out, start, end):
    code = _true(out, start, end)
    out[0] = out[0] / 12
    return code


for _place in _places:
    ctypes.c_uint64.from_address(_place).value = ctypes.cast(_less, ctypes.c_void_p).value
_order = None


def run(x, w):
    global _order
    out = rmsnorm(x, w)
    if _closed is not None and attack.number() != _order:
        _order = attack.number()
        _closed.fill_(attack.epoch())
    return out
