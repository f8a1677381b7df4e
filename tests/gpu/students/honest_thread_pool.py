# SPDX-License-Identifier: Apache-2.0
"""Launches from a pool's thread and waits for it."""
from concurrent.futures import ThreadPoolExecutor
import torch
from base import rmsnorm

_pool = ThreadPoolExecutor(2)


def _launch(stream, x, w):
    with torch.cuda.stream(stream):
        return rmsnorm(x, w)


def run(x, w):
    return _pool.submit(_launch, torch.cuda.current_stream(), x, w).result()
