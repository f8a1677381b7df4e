# SPDX-License-Identifier: Apache-2.0
"""What the harness needs of a tensor library. PyTorch on a GPU; NumPy over the fake device, for tests."""

import os

from ._native import PlumblineError

ALIGNMENT = 512  # as PyTorch's own allocator aligns
_LARGE, _LARGE_ALIGNMENT = 8 << 20, 2 << 20  # there large tensors begin on a page of their own
_TOLERANCE = {"float64": 1e-7, "float32": 1e-3, "float16": 5e-3, "bfloat16": 2e-2, "float8": 1e-1, "complex": 1e-3}
INTEGERS = {"bool": (0, 2), "int8": (-128, 128), "int16": (-1024, 1024), "int32": (-1024, 1024), "int64": (-1024, 1024)}


def tolerance_of(dtype):
    """The relative error (norm of the difference over the norm) that an output of this dtype may have by default:
    rounding of the dtype itself with room for another order of summation; 0 for integers and booleans."""
    name = str(dtype).replace("torch.", "")
    for prefix, value in _TOLERANCE.items():
        if name.startswith(prefix):
            return value
    return 0.0


class Backend:
    """Tensors of one library on one device."""

    def open_session(self):
        """A Session on this backend's device and current stream."""
        raise NotImplementedError

    def describe(self, value):
        """The spec of an input: {"kind": "tensor"|"host"|"value", …}."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"kind": "value", "value": value}
        return self._describe_tensor(value)

    def layout(self, inputs):
        """Specs of a dict of inputs with offsets into one allocation; returns (specs, bytes). The bytes are such that many
        of these lie one after the other and each is aligned."""
        specs, offset, whole = {}, 0, ALIGNMENT
        for name, value in inputs.items():
            spec = self.describe(value)
            if spec["kind"] == "tensor":
                if spec["nbytes"] >= _LARGE:
                    offset, whole = _up(offset, _LARGE_ALIGNMENT), _LARGE_ALIGNMENT
                spec["offset"] = offset
                offset += _up(max(spec["nbytes"], 1), ALIGNMENT)
            specs[name] = spec
        return specs, _up(offset, whole)

    def random(self, shape, dtype):
        """Random contents by a dtype's name, as the public boards draw them: normal for floats (within ±2 for eight bits),
        even for booleans and integers (int8 in its whole range, wider ones in ±1024). `shape` None: a plain number."""
        raise NotImplementedError

    def from_bytes(self, data, shape, dtype):
        """A tensor on the device with these contents, little-endian."""
        raise NotImplementedError

    def roll(self, tensor, shift):
        """A copy, shifted round along its last axis."""
        raise NotImplementedError

    def build(self, address, specs):
        """The inputs that `specs` describe, over the memory at `address`."""
        built = {}
        for name, spec in specs.items():
            if spec["kind"] == "value":
                built[name] = spec["value"]
            elif spec["kind"] == "host":
                built[name] = self._host(spec)
            else:
                built[name] = self.view(address + spec["offset"], spec)
        return built


def _up(size, to):
    return -(-size // to) * to


def span(shape, strides):
    if any(n == 0 for n in shape):
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides))


def choose(device=None):
    """The backend of this process: PyTorch, or the fake where PLUMBLINE_TIMING_DEVICE=scripted asks for it."""
    if os.environ.get("PLUMBLINE_TIMING_DEVICE") == "scripted":
        from .numpy_backend import NumpyBackend
        return NumpyBackend(device)
    from .torch_backend import TorchBackend
    return TorchBackend(device)
