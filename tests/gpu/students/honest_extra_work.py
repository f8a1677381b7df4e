# SPDX-License-Identifier: Apache-2.0
"""Twice the work, the right result: slow, not dishonest."""
from base import rmsnorm


def run(x, w):
    rmsnorm(x, w)
    return rmsnorm(x, w)
