# SPDX-License-Identifier: Apache-2.0
"""Native code: a thread that no lock of Python stops rewrites every answer to half."""
# Caught as: time-forged worker-answer
import attack
from base import rmsnorm

attack.native_clock(0.5)


def run(x, w):
    return rmsnorm(x, w)
