# SPDX-License-Identifier: Apache-2.0
"""Returns its output in a tuple."""
from base import rmsnorm


def run(x, w):
    return (rmsnorm(x, w),)
