# SPDX-License-Identifier: Apache-2.0
"""Native code that knows the harness's margins and takes nearly all of them: 2 % and 12 us of a window."""
# Caught as: nothing
# Gains at most: 1.04
import attack
from base import rmsnorm

attack.native_clock(0.981, 0.011)


def run(x, w):
    return rmsnorm(x, w)
