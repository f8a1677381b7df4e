# SPDX-License-Identifier: Apache-2.0
"""What a student has no honest reason to do to its process: names that it replaced, modes, hooks and overrides that it left
active. The windows do not depend on any of it: the clock, events and streams are the C library's, and outputs are looked
at there. It is reported because it shows intent."""

import gc
import sys
import time
import types

_TIME = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time")
_CUDA = ("Event", "Stream", "synchronize", "current_stream", "default_stream", "stream", "ExternalStream")
_TENSOR = ("data_ptr", "copy_", "clone", "stride", "view", "as_strided", "element_size", "numel", "contiguous")


def _targets():
    yield "time", time, _TIME
    torch = sys.modules.get("torch")
    if torch is not None:
        yield "torch.cuda", torch.cuda, _CUDA
        yield "torch.cuda.Event", torch.cuda.Event, ("__init__", "__new__", "record", "wait", "query", "elapsed_time",
                                                     "synchronize")
        yield "torch.Tensor", torch.Tensor, _TENSOR
    for name in sorted(sys.modules):
        module = sys.modules[name]
        if not isinstance(module, types.ModuleType) or not (name == "plumbline" or name.startswith("plumbline.")):
            continue
        yield name, module, tuple(k for k in vars(module) if not k.startswith("__"))
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and getattr(value, "__module__", "").startswith("plumbline"):
                yield name + "." + key, value, tuple(k for k in vars(value) if callable(vars(value)[k]))


def snapshot():
    """What every guarded name is bound to now."""
    taken = {}
    for where, owner, names in _targets():
        for name in names:
            try:
                value = getattr(owner, name)
            except AttributeError:
                continue
            # Bound and built-in methods are made anew at each look: compare what they are made of.
            taken[where + "." + name] = (owner, name, value, getattr(value, "__code__", None))
    return taken


def changed(taken):
    """The guarded names that are bound to something else than when `taken` was made, sorted."""
    found = []
    for label, (owner, name, value, code) in taken.items():
        now = getattr(owner, name, None)
        same = now is value or (isinstance(value, (types.BuiltinMethodType, types.MethodType,
                                                   types.MethodWrapperType)) and now == value)
        if not same or getattr(now, "__code__", None) is not code:
            found.append(label)
    return sorted(found)


def guards():
    """[(callable, what it returns when all is well)], for the C library to look at after every window. Built-in functions
    only: nobody can change what they do."""
    found = [(sys.getprofile, None), (sys.gettrace, None)]
    torch = sys.modules.get("torch")
    for name in ("_len_torch_function_stack", "_len_torch_dispatch_stack"):
        if torch is not None and hasattr(torch._C, name):
            found.append((getattr(torch._C, name), 0))
    return found


GUARDS = ("a profile function", "a trace function", "a torch function mode", "a torch dispatch mode")
_FUNCTION_MODE = 2


def raised(bits, modes):
    """What the guards say is active, in words. `modes`: names of the function modes; set_default_device() alone is one that
    honest code may leave."""
    return [text for bit, text in enumerate(GUARDS)
            if bits >> bit & 1 and not (bit == _FUNCTION_MODE and modes and set(modes) == {"DeviceContext"})]


def function_modes():
    """Names of PyTorch's function modes that are active."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    try:
        return [type(torch._C._get_function_stack_at(i)).__name__ for i in range(torch._C._len_torch_function_stack())]
    except (AttributeError, RuntimeError):
        return []


def active():
    """{"modes": names of function modes, "hooks": what else is active}: global module hooks, kernels registered for
    PyTorch's own operators, tools of sys.monitoring."""
    torch, hooks = sys.modules.get("torch"), []
    if torch is not None:
        module = sys.modules.get("torch.nn.modules.module")
        hooks += ["torch.nn hook " + name for name, value in sorted(vars(module).items())
                  if name.startswith("_global_") and name.endswith("hooks") and value] if module else []
        library = getattr(torch, "library", None)
        # "namespace/operator/dispatch key": PyTorch registers Meta and decompositions itself, a CUDA kernel never so.
        hooks += ["an override of " + key for key in sorted(getattr(library, "_impls", ()))
                  if key.startswith("aten/") and key.endswith(("/CUDA", "/AutogradCUDA", "/AutocastCUDA"))]
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        hooks += ["a sys.monitoring tool" for tool in (0, 1, 2, 5) if monitoring.get_tool(tool)]
    return {"modes": function_modes(), "hooks": hooks[:8]}


def graph_captured():
    """Does a CUDA graph of PyTorch live in this process?"""
    torch = sys.modules.get("torch")
    kind = getattr(getattr(torch, "cuda", None), "CUDAGraph", None)
    return kind is not None and any(isinstance(one, kind) for one in gc.get_objects() if type(one).__name__ == kind.__name__)


def _switch(read):
    try:
        return read()
    except (AttributeError, RuntimeError, TypeError):
        return None


def precision():
    """The precision switches as they stand; None where there is no PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    return {"float32_matmul_precision": _switch(torch.get_float32_matmul_precision),
            "allow_tf32_matmul": _switch(lambda: torch.backends.cuda.matmul.allow_tf32),
            "allow_tf32_cudnn": _switch(lambda: torch.backends.cudnn.allow_tf32),
            "autocast": _switch(lambda: torch.is_autocast_enabled("cuda"))}
