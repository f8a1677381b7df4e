# SPDX-License-Identifier: Apache-2.0
"""A dict that works its output out when it is looked up."""
# Caught as: output-type output-count wrong-output late-work
from base import rmsnorm


class Later(dict):
    given = None

    def __getitem__(self, key):
        return rmsnorm(*self.given)


def run(x, w):
    made = Later(out=x)
    made.given = (x, w)
    return made
