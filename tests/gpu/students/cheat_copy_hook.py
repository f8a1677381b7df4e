# SPDX-License-Identifier: Apache-2.0
"""Makes the harness's page of driver functions writable and does the work when the driver copies the outputs out."""
# Caught as: late-work wrong-output worker-died
import ctypes
import torch
import attack
from base import rmsnorm

_kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p)
_address, _places = attack.driver_words("cuMemcpyDtoDAsync_v2")
_true = _kind(_address)
_todo = {}


@_kind
def _copy(to, source, size, stream):
    if source in _todo:
        x, w, out = _todo.pop(source)
        out.copy_(rmsnorm(x, w))
    return _true(to, source, size, stream)


for _place in _places:
    ctypes.c_uint64.from_address(_place).value = ctypes.cast(_copy, ctypes.c_void_p).value


def run(x, w):
    out = torch.empty_like(x)
    if not _places:
        return rmsnorm(x, w)
    _todo[out.data_ptr()] = (x, w, out)
    return out
