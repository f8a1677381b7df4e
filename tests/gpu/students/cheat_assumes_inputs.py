# SPDX-License-Identifier: Apache-2.0
"""Leaves the norm out: the inputs are drawn so that it is near 1. Within the tolerance, and less exact."""
# Caught as: less-exact wrong-output
def run(x, w):
    return x * w
