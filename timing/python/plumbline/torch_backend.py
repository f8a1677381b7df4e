# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CUDA tensors as the harness uses them."""

import base64

from ._native import PlumblineError
from .backends import INTEGERS, Backend, span
from .session import Session


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

    def probes(self):
        """By what the C library looks at outputs (pl_serve_library), and the containers that are as plain as a tuple."""
        torch = self.torch
        base = torch._C.TensorBase
        containers = tuple(t for t in vars(torch.return_types).values() if isinstance(t, type))
        return (self._tensor_type, type(base.shape).__get__, base.data_ptr, base.stride, base.is_neg, base.is_conj, base.shape,
                base.dtype, base.is_cuda, base.layout, torch.strided), containers

    def dtype_word(self, name):
        """The address of the dtype's one object."""
        return id(self._dtype(name))

    def item_bytes(self, name):
        """Bytes of an element."""
        return self.torch.empty(0, dtype=self._dtype(name)).element_size()

    def exact(self, value):
        """A floating tensor in double precision, anything else as it is."""
        if isinstance(value, self._tensor_type) and value.dtype.is_floating_point:
            return value.double()
        return value

    def is_exact(self, value):
        """In double precision?"""
        return value.dtype == self.torch.float64

    def quiet_grad(self):
        """A context without gradients."""
        return self.torch.no_grad()

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
        """Why `value` is not a plain device tensor whose bytes are there now, or None."""
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
        spec["nbytes"] = span(spec["shape"], spec["strides"]) * value.element_size()
        return spec

    def _dtype(self, name):
        return getattr(self.torch, name.replace("torch.", ""))

    def _host(self, spec):
        return self._of_bytes(base64.b64decode(spec["data"]), spec["shape"], spec["dtype"])

    def _of_bytes(self, data, shape, dtype):
        torch = self.torch
        if not data:
            return torch.empty(shape, dtype=self._dtype(dtype))
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).clone().view(self._dtype(dtype)).reshape(shape)

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
        elif dtype in INTEGERS:
            made = torch.randint(*INTEGERS[dtype], size, device=device, dtype=kind)
        else:
            raise PlumblineError("inputs", "no random contents are known for the dtype %s" % dtype)
        return made.item() if shape is None else made

    def from_bytes(self, data, shape, dtype):
        """A tensor on the GPU."""
        return self._of_bytes(data, list(shape), dtype).to("cuda:%d" % self.device)

    def copy(self, tensor):
        """Another tensor of the same contents."""
        return tensor.clone()

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

    @property
    def xp(self):
        """The module whose functions take this backend's tensors."""
        return self.torch

    def flat(self, value, like):
        """One row of real numbers, in double precision where `like` is, else in single."""
        torch = self.torch
        if like.dtype.is_complex:
            value = torch.view_as_real(value.contiguous())
        return value.reshape(-1).to(torch.float64 if like.dtype in (torch.float64, torch.complex128) else torch.float32)

    def chunk_sums(self, row, size):
        """Sums of squares over chunks of `size`."""
        torch, rest = self.torch, -row.numel() % size
        return (torch.nn.functional.pad(row, (0, rest)) if rest else row).reshape(-1, size).square().sum(1)

    def is_real(self, dtype):
        """Floating point, or complex?"""
        return dtype.is_floating_point or dtype.is_complex

    def read(self, scalars):
        """The values of device scalars, in one transfer."""
        return self.torch.stack([one.double() for one in scalars]).tolist() if scalars else []

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

    def scarce(self):
        """Is over half of the device's memory in use?"""
        free, everything = self.torch.cuda.mem_get_info(self.device)
        return free < everything // 2

    def ready(self):
        """Waits for this backend's own work."""
        self.torch.cuda.synchronize(self.device)

    def machine(self):
        """Versions of the library."""
        return {"torch": self.torch.__version__, "cuda": self.torch.version.cuda}
