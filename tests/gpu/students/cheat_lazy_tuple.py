# SPDX-License-Identifier: Apache-2.0
"""A tuple that works its output out when it is looked at."""
# Caught as: output-type wrong-output late-work
from base import rmsnorm


class Later(tuple):
    def __new__(cls, x, w):
        made = super().__new__(cls, (x,))
        made.given = (x, w)
        return made

    def __iter__(self):
        yield rmsnorm(*self.given)

    def __getitem__(self, index):
        return rmsnorm(*self.given)


def run(x, w):
    return Later(x, w)
