# SPDX-License-Identifier: Apache-2.0
"""What the harness needs of a tensor library. PyTorch on a GPU; NumPy over the fake device, for tests."""

import base64
import ctypes
import math
import os

from ._native import PlumblineError
from .session import Session

ALIGNMENT = 512  # as PyTorch's own allocator aligns
_LARGE, _LARGE_ALIGNMENT = 8 << 20, 2 << 20  # there large tensors begin on a page of their own
_TOLERANCE = {"float64": 1e-7, "float32": 1e-3, "float16": 5e-3, "bfloat16": 2e-2, "float8": 1e-1, "complex": 1e-3}
_INTEGERS = {"bool": (0, 2), "int8": (-128, 128), "int16": (-1024, 1024), "int32": (-1024, 1024), "int64": (-1024, 1024)}
_CHUNK = 1024
_CHUNK_FACTOR = 15.0  # a chunk's own error may be this many times the tolerance of the whole


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


def _span(shape, strides):
    if any(n == 0 for n in shape):
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides))


class _Memory:
    """Device memory as the CUDA array interface shows it."""

    def __init__(self, address, nbytes):
        self.__cuda_array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "data": (address, False), "version": 3}


class TorchBackend(Backend):
    """PyTorch's CUDA tensors."""

    name = "torch"
    asynchronous = True  # a call enqueues; its inputs are read later

    def __init__(self, device=None):
        try:
            import torch
        except ImportError as error:
            raise PlumblineError("no-torch", "tensor inputs need PyTorch: %s" % error) from None
        if not torch.cuda.is_available():
            from . import _native
            raise PlumblineError("no-device", "PyTorch sees no CUDA GPU here (%s)" % _native.describe())
        self.torch = torch
        self.device = torch.cuda.current_device() if device is None else device
        self._tensor_type = torch.Tensor
        self._pointer = torch._C.TensorBase.data_ptr if hasattr(torch._C, "TensorBase") else torch.Tensor.data_ptr

    def open_session(self):
        """A Session on PyTorch's current stream."""
        self.torch.zeros(1, device="cuda:%d" % self.device)  # the primary context, made by PyTorch
        return Session.cuda(self.device, self.torch.cuda.current_stream(self.device).cuda_stream)

    def seed(self, number):
        """Seeds every generator."""
        self.torch.manual_seed(number)

    def is_tensor(self, value):
        """Is this a tensor of any kind?"""
        return isinstance(value, self._tensor_type)

    def trouble(self, value):
        """Why `value` is no plain device tensor whose bytes are there now, or None."""
        if type(value) is not self._tensor_type:
            return "is a %s.%s, not a plain torch.Tensor" % (type(value).__module__, type(value).__qualname__)
        if not value.is_cuda:
            return "is on %s, not on the GPU" % value.device
        if value.layout is not self.torch.strided:
            return "has the layout %s" % value.layout
        return None

    def _describe_tensor(self, value):
        if not isinstance(value, self._tensor_type):
            raise PlumblineError("input-type", "an input is a %s; tensors, numbers, strings and None can be shared"
                                 % type(value).__name__)
        spec = {"kind": "tensor", "shape": list(value.shape), "dtype": str(value.dtype),
                "strides": list(value.stride())}
        if not value.is_cuda:
            raw = value.contiguous().reshape(-1).view(self.torch.uint8) if value.numel() else value
            data = bytes(raw.tolist()) if value.numel() else b""
            return {"kind": "host", "shape": spec["shape"], "dtype": spec["dtype"],
                    "data": base64.b64encode(data).decode()}
        spec["nbytes"] = _span(spec["shape"], spec["strides"]) * value.element_size()
        return spec

    def _dtype(self, name):
        return getattr(self.torch, name.replace("torch.", ""))

    def _host(self, spec):
        torch = self.torch
        data = bytearray(base64.b64decode(spec["data"]))
        if not data:
            return torch.empty(spec["shape"], dtype=self._dtype(spec["dtype"]))
        return torch.frombuffer(data, dtype=torch.uint8).clone().view(self._dtype(spec["dtype"])).reshape(spec["shape"])

    def random(self, shape, dtype):
        """Contents by PyTorch's own generator on the GPU."""
        torch, device = self.torch, "cuda:%d" % self.device
        kind, size = getattr(torch, dtype, None), [] if shape is None else list(shape)
        if kind is None:
            raise PlumblineError("inputs", "this PyTorch has no dtype %s" % dtype)
        if dtype.startswith("float8"):
            made = torch.randn(size, device=device).clamp_(-2.0, 2.0).to(kind)
        elif kind.is_floating_point and not dtype.startswith("float4"):
            made = torch.randn(size, device=device, dtype=kind)
        elif dtype in _INTEGERS:
            made = torch.randint(*_INTEGERS[dtype], size, device=device, dtype=kind)
        else:
            raise PlumblineError("inputs", "no random contents are known for the dtype %s" % dtype)
        return made.item() if shape is None else made

    def from_bytes(self, data, shape, dtype):
        """A tensor on the GPU."""
        spec = {"data": base64.b64encode(data), "shape": list(shape), "dtype": dtype}
        return self._host(spec).to("cuda:%d" % self.device)

    def roll(self, tensor, shift):
        """Bytes are shifted where an element is a byte: not every PyTorch shifts eight-bit floats."""
        words = tensor.view(self.torch.uint8) if tensor.element_size() == 1 else tensor
        return words.roll(shift, -1).view(tensor.dtype)

    def view(self, address, spec):
        """A tensor over device memory."""
        torch = self.torch
        if spec["nbytes"] == 0:
            return torch.empty(spec["shape"], dtype=self._dtype(spec["dtype"]), device="cuda:%d" % self.device)
        flat = torch.as_tensor(_Memory(address, spec["nbytes"]), device="cuda:%d" % self.device)
        return flat.view(self._dtype(spec["dtype"])).as_strided(spec["shape"], spec["strides"])

    def pointer(self, tensor):
        """Device address of the first element."""
        return self._pointer(tensor)

    def copy_into(self, target, source):
        """Enqueues target[...] = source."""
        target.copy_(source)

    def clone(self, tensor):
        """A private copy."""
        return tensor.clone()

    def same(self, a, b):
        """A device scalar: are all bytes equal? Collect many, then ask read()."""
        if a.numel() == 0:
            return self.torch.ones((), device=a.device)
        words = {1: self.torch.uint8, 2: self.torch.int16, 4: self.torch.int32, 8: self.torch.int64}
        word = words.get(a.element_size(), self.torch.uint8)
        return (a.contiguous().view(word) == b.contiguous().view(word)).all().float()

    def error(self, got, expected, tolerance):
        """A device scalar: how far `got` is off, in tolerances (over 1 is wrong; NaN is wrong)."""
        torch = self.torch
        if expected.numel() == 0:
            return torch.zeros((), device=expected.device)
        if not (expected.dtype.is_floating_point or expected.dtype.is_complex):
            return (got != expected).any().float() * 2
        kind = torch.float64 if expected.dtype == torch.float64 else torch.float32
        if expected.dtype.is_complex:
            got, expected = torch.view_as_real(got.contiguous()), torch.view_as_real(expected.contiguous())
        g, e = got.reshape(-1).to(kind), expected.reshape(-1).to(kind)
        rest = -g.numel() % _CHUNK
        if rest:
            g, e = torch.nn.functional.pad(g, (0, rest)), torch.nn.functional.pad(e, (0, rest))
        difference = (g - e).reshape(-1, _CHUNK).square().sum(1)
        size = e.reshape(-1, _CHUNK).square().sum(1)
        total = size.sum()
        whole = (difference.sum() / total.clamp_min(1e-30)).sqrt()
        floor = 0.1 * (total / expected.numel()).sqrt() * math.sqrt(_CHUNK)
        chunk = (difference.sqrt() / (size.sqrt() + floor).clamp_min(1e-15)).max()
        return torch.maximum(whole, chunk / _CHUNK_FACTOR).float() / tolerance

    def read(self, scalars):
        """The values of device scalars, in one transfer."""
        return self.torch.stack(list(scalars)).tolist() if scalars else []

    def poison(self, specs):
        """Fills memory that the allocator will hand out for such tensors with NaN patterns."""
        torch = self.torch
        held = [torch.empty(max(spec["nbytes"], 1), dtype=torch.uint8, device="cuda:%d" % self.device).fill_(255)
                for spec in specs]
        del held

    def poison_view(self, tensor):
        """Fills a tensor with NaN patterns."""
        if tensor.numel():
            tensor.view(self.torch.uint8).fill_(255) if tensor.is_contiguous() else tensor.fill_(-1)

    def free_bytes(self):
        """Free device memory."""
        return self.torch.cuda.mem_get_info(self.device)[0]

    def ready(self):
        """Waits for this backend's own work."""
        self.torch.cuda.synchronize(self.device)

    def machine(self):
        """Versions of the library."""
        return {"torch": self.torch.__version__, "cuda": self.torch.version.cuda}


class NumpyBackend(Backend):
    """NumPy arrays over the fake device's memory."""

    name = "scripted"
    asynchronous = False  # NumPy computes while the call runs

    def __init__(self, device=None):
        import numpy
        self.np = numpy
        self.device = 0

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
        """Why `value` is no plain array, or None."""
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
        if dtype in _INTEGERS:
            made = np.random.randint(*_INTEGERS[dtype], size=size).astype(dtype)
        elif dtype in ("float64", "float32", "float16"):
            made = np.asarray(np.random.standard_normal(size)).astype(dtype)
        else:
            raise PlumblineError("inputs", "no random contents are known for the dtype %s" % dtype)
        return made.item() if shape is None else made

    def from_bytes(self, data, shape, dtype):
        """An array."""
        return self.np.frombuffer(data, dtype=dtype).reshape(shape).copy()

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

    def error(self, got, expected, tolerance):
        """How far `got` is off, in tolerances."""
        if expected.dtype.kind not in "fc":
            return 2.0 * float((got != expected).any())
        size = float(self.np.linalg.norm(expected))
        return float(self.np.linalg.norm(got - expected)) / max(size, 1e-30) / tolerance

    def read(self, scalars):
        """The values."""
        return list(scalars)

    def poison(self, specs):
        """NumPy's memory is not re-used in a way that matters here."""

    def poison_view(self, tensor):
        """Fills an array with NaN patterns."""
        tensor.view("u1")[...] = 255

    def free_bytes(self):
        """A fixed size."""
        return 1 << 30

    def ready(self):
        """Nothing runs on its own."""

    def machine(self):
        """Versions of the library."""
        return {"numpy": self.np.__version__}


def choose(device=None):
    """The backend of this process: PyTorch, or the fake where PLUMBLINE_TIMING_DEVICE=scripted asks for it."""
    if os.environ.get("PLUMBLINE_TIMING_DEVICE") == "scripted":
        return NumpyBackend(device)
    return TorchBackend(device)
