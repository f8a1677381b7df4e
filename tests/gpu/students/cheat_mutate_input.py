# SPDX-License-Identifier: Apache-2.0
"""Normalises in place: the input is the output."""
# Caught as: input-mutated
from base import rmsnorm

def run(x, w):
    x.copy_(rmsnorm(x, w))
    return x
