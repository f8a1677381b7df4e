# SPDX-License-Identifier: Apache-2.0
"""Uses the prep tensor as its scratch."""
# Caught as: prep-mutated
from base import rmsnorm

def run(x, w, scale):
    out = rmsnorm(x, w)
    scale.mul_(0.5)
    return out
