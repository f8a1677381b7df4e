# SPDX-License-Identifier: Apache-2.0
"""Eager PyTorch."""
from base import rmsnorm


def run(x, w):
    return rmsnorm(x, w)
