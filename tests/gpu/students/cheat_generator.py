# SPDX-License-Identifier: Apache-2.0
"""Yields its output when somebody asks for it."""
# Caught as: output-type output-count
from base import rmsnorm


def run(x, w):
    yield rmsnorm(x, w)
