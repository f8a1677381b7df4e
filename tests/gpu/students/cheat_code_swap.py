# SPDX-License-Identifier: Apache-2.0
"""Leaves the harness's functions where they are and swaps the code in them."""
# Caught as: patched wrong-output worker-died student-raised worker-answer
from base import rmsnorm
from plumbline import engine, integrity


def _nothing(taken):
    return []


integrity.changed.__code__ = _nothing.__code__
engine.asked.__code__ = (lambda function: []).__code__


def run(x, w):
    return rmsnorm(x, w)
