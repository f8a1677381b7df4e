# SPDX-License-Identifier: Apache-2.0
"""A heavy-tailed output, written in halves into a buffer that is kept."""
# Workload: heavy
import torch
from base import rmsnorm

_kept = {}


def run(x, w):
    out = _kept.setdefault(x.data_ptr(), torch.empty_like(x))
    for rows in x.split(2048):
        start = (rows.data_ptr() - x.data_ptr()) // (x.shape[1] * x.element_size())
        out[start:start + 2048] = rmsnorm(rows, w)
    return out
