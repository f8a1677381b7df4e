# SPDX-License-Identifier: Apache-2.0
"""Native code that stays within what the harness's clock lets pass: 1.5 % less."""
# Caught as: nothing
import attack
from base import rmsnorm

attack.native_clock(0.985)


def run(x, w):
    return rmsnorm(x, w)
