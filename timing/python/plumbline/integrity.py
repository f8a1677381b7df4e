# SPDX-License-Identifier: Apache-2.0
"""Names that a student has no honest reason to replace, and whether it did. The windows do not depend on them: the
clock, events and streams are the C library's. A replaced name is reported because it shows intent."""

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
