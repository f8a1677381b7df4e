# SPDX-License-Identifier: Apache-2.0
"""A CUDA kernel on the legacy default stream, as `<<<>>>` launches."""
import cupy
import torch
from honest_cuda import _kernel


def run(x, w):
    out = torch.empty_like(x)
    _kernel((x.shape[0],), (512,), (x.data_ptr(), w.data_ptr(), out.data_ptr(), cupy.int32(x.shape[1])),
            stream=cupy.cuda.Stream.null)
    return out
