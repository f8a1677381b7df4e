# SPDX-License-Identifier: Apache-2.0
"""Never returns."""
# Caught as: time-limit
def run(x, w):
    while True:
        pass
