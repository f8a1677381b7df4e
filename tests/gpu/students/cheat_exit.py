# SPDX-License-Identifier: Apache-2.0
"""Ends the process."""
# Caught as: worker-died
import os

def run(x, w):
    os._exit(0)
