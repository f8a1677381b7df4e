# SPDX-License-Identifier: Apache-2.0
"""Works out one row and shows it everywhere, by a stride of zero."""
# Caught as: wrong-output
from base import rmsnorm


def run(x, w):
    return rmsnorm(x[:1], w).expand(x.shape)
