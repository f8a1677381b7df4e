# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays over the fake device's memory, for tests."""

import contextlib
import ctypes

from ._native import PlumblineError
from .backends import INTEGERS, Backend


class NumpyBackend(Backend):
    """NumPy arrays over the fake device's memory."""

    name = "scripted"
    asynchronous = False  # NumPy computes while the call runs

    def __init__(self, device=None):
        import numpy
        self.np = numpy
        self.device = 0

    def probes(self):
        """Arrays are looked at by the buffer protocol."""
        return (self.np.ndarray,), ()

    def dtype_word(self, name):
        """The letter of the dtype's buffer format."""
        return ord(memoryview(self.np.empty(1, dtype=name)).format[0])

    def item_bytes(self, name):
        """Bytes of an element."""
        return self.np.dtype(name).itemsize

    def exact(self, value):
        """A floating array in double precision, anything else as it is."""
        return value.astype("f8") if self.is_tensor(value) and value.dtype.kind == "f" else value

    def is_exact(self, value):
        """In double precision?"""
        return value.dtype == "float64"

    def quiet_grad(self):
        """Nothing to switch off."""
        return contextlib.nullcontext()

    def open_session(self):
        """The fake."""
        from . import scripted
        return scripted.session()

    def seed(self, number):
        """Seeds NumPy's global generator."""
        self.np.random.seed(number)

    def is_tensor(self, value):
        """Is this an array of any kind?"""
        return isinstance(value, self.np.ndarray)

    def trouble(self, value):
        """Why `value` is not a plain array, or None."""
        if type(value) is not self.np.ndarray:
            return "is a %s.%s, not a plain numpy.ndarray" % (type(value).__module__, type(value).__qualname__)
        return None

    def _describe_tensor(self, value):
        if not isinstance(value, self.np.ndarray):
            raise PlumblineError("input-type", "an input is a %s; arrays, numbers, strings and None can be shared"
                                 % type(value).__name__)
        return {"kind": "tensor", "shape": list(value.shape), "dtype": str(value.dtype),
                "strides": [s // value.itemsize for s in value.strides], "nbytes": value.nbytes}

    def _host(self, spec):
        raise PlumblineError("input-type", "the fake device has no host tensors")

    def random(self, shape, dtype):
        """Contents by NumPy's global generator."""
        np, size = self.np, [] if shape is None else list(shape)
        if dtype in INTEGERS:
            made = np.random.randint(*INTEGERS[dtype], size=size).astype(dtype)
        elif dtype in ("float64", "float32", "float16"):
            made = np.asarray(np.random.standard_normal(size)).astype(dtype)
        else:
            raise PlumblineError("inputs", "no random contents are known for the dtype %s" % dtype)
        return made.item() if shape is None else made

    def from_bytes(self, data, shape, dtype):
        """An array."""
        return self.np.frombuffer(data, dtype=dtype).reshape(shape).copy()

    def copy(self, tensor):
        """Another array of the same contents."""
        return tensor.copy()

    def roll(self, tensor, shift):
        """As numpy.roll."""
        return self.np.roll(tensor, shift, -1)

    def view(self, address, spec):
        """An array over the fake device's memory."""
        raw = (ctypes.c_ubyte * max(spec["nbytes"], 1)).from_address(address)
        flat = self.np.frombuffer(raw, dtype=spec["dtype"], count=spec["nbytes"] // self.np.dtype(spec["dtype"]).itemsize)
        item = flat.itemsize
        return self.np.lib.stride_tricks.as_strided(flat, spec["shape"], [s * item for s in spec["strides"]])

    def pointer(self, tensor):
        """Address of the first element."""
        return tensor.ctypes.data

    def copy_into(self, target, source):
        """target[...] = source."""
        target[...] = source

    def clone(self, tensor):
        """A private copy."""
        return tensor.copy()

    def same(self, a, b):
        """1.0 when all bytes are equal."""
        return float(a.tobytes() == b.tobytes())

    @property
    def xp(self):
        """The module whose functions take this backend's arrays."""
        return self.np

    def flat(self, value, like):
        """One row of real numbers in double precision."""
        row = self.np.ascontiguousarray(value).reshape(-1)
        return (row.view(row.real.dtype) if like.dtype.kind == "c" else row).astype("f8")

    def chunk_sums(self, row, size):
        """Sums of squares over chunks of `size`."""
        padded = self.np.pad(row, (0, -row.size % size))
        return self.np.square(padded.reshape(-1, size)).sum(1)

    def is_real(self, dtype):
        """Floating point, or complex?"""
        return dtype.kind in "fc"

    def read(self, scalars):
        """The values."""
        return [float(one) for one in scalars]

    def poison(self, specs):
        """NumPy's memory is not re-used in a way that matters here."""

    def poison_view(self, tensor):
        """Fills an array with NaN patterns."""
        tensor.view("u1")[...] = 255

    def free_bytes(self):
        """A fixed size."""
        return 1 << 30

    def scarce(self):
        """There is always more."""
        return False

    def ready(self):
        """Nothing runs on its own."""

    def machine(self):
        """Versions of the library."""
        return {"numpy": self.np.__version__}
