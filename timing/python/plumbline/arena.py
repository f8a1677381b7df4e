# SPDX-License-Identifier: Apache-2.0
"""Device memory that holds input sets, in a form that another process can attach."""

from . import backends


class Arena:
    """One allocation that holds some names of every input set."""

    def __init__(self, session, backend, inputs, sets):
        self.specs, size = backend.layout(inputs)
        self.stride = max(size, backends.ALIGNMENT)
        self.address = session.alloc(self.stride * sets)
        self.handle = None
        self.views = [backend.build(self.address + i * self.stride, self.specs) for i in range(sets)]

    def message(self, session):
        """What another process needs to attach it."""
        if self.handle is None:
            self.handle = session.share(self.address)
        return {"handle": self.handle, "stride": self.stride, "specs": self.specs}
