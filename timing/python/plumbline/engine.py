# SPDX-License-Identifier: Apache-2.0
"""One side in one process: its function bound to the input sets, its windows, its outputs."""

import functools
import importlib
import inspect
import sys

from . import _native as native
from ._native import PlumblineError


def load_function(target, paths=()):
    """The function that "module:function" names; `paths` are searched first."""
    module_name, _, function_name = target.partition(":")
    if not module_name or not function_name:
        raise PlumblineError("target", "%r does not name a function as module:function" % target)
    for path in reversed(list(paths)):
        if path not in sys.path:
            sys.path.insert(0, path)
    module = importlib.import_module(module_name)
    function = module
    for part in function_name.split("."):
        if not hasattr(function, part):
            raise PlumblineError("target", "the module %r has no function %r" % (module_name, function_name))
        function = getattr(function, part)
    if not callable(function):
        raise PlumblineError("target", "%r is not callable" % target)
    return function


def wanted(function, names):
    """Those of `names` that `function` takes as parameters; all of them where it takes any (**kwargs)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return list(names)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return list(names)
    taken = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    missing = [p.name for p in parameters if p.name not in names and p.default is p.empty
               and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.POSITIONAL_ONLY)]
    if missing:
        raise PlumblineError("signature", "%s wants %s, which the workload does not make (it makes %s)" % (
            getattr(function, "__name__", "the function"), ", ".join(missing), ", ".join(names) or "nothing"))
    return [name for name in names if name in taken]


def flatten(result):
    """The outputs of a call as a list of (name, value): a tensor, a tuple or list, or a dict of them."""
    if result is None:
        return []
    if isinstance(result, dict):
        return [(str(key), result[key]) for key in result]
    if isinstance(result, (tuple, list)):
        return [(str(index), value) for index, value in enumerate(result) if value is not None]
    return [("0", result)]


class Engine:
    """Runs windows of one function over input sets, in this process."""

    def __init__(self, session, backend):
        self.session = session
        self.backend = backend
        self.sets = []
        self.function = None
        self.callables = []
        self.results = []
        # Bound now: a student that replaces these in their modules later changes nothing here.
        self._flatten = flatten
        self._wanted = wanted
        self._partial = functools.partial
        self._pipelined, self._per_call = session.pipelined, session.per_call
        self._flush, self._drain = session.flush, session.drain
        self._poison, self._trouble = backend.poison, backend.trouble

    def set_inputs(self, sets):
        """The input sets (dicts), in order."""
        self.sets = sets
        self._rebind()

    def set_function(self, function):
        """The function that the windows time; returns the input names that it takes."""
        self.function = function
        return self._rebind()

    def _rebind(self):
        if self.function is None or not self.sets:
            return []
        names = self._wanted(self.function, list(self.sets[0]))
        self.callables = [self._partial(self.function, **{n: one[n] for n in names}) for one in self.sets]
        return names

    def warm(self, calls):
        """Untimed calls (compilation, autotuning, allocation), each on its own set, and waits for them."""
        for index in range(calls):
            self.callables[index % len(self.callables)]()
        self._drain()

    def window(self, kind, calls, first=0, cold=True, gate=None, output_specs=()):
        """One pipelined window, or `calls` per-call windows: a list of readings. The results stay in `results`."""
        self.results = []
        order = [self.callables[(first + i) % len(self.callables)] for i in range(calls)]
        kept = [None] * calls
        if output_specs:
            self._poison([spec for _ in range(calls) for spec in output_specs])
            self._drain()
        if kind == "pipelined":
            if cold:
                self._flush()
            readings = [self._pipelined(order, calls, kept, gate)]
        else:
            readings = self._per_call(order, 0, calls, cold, kept)
        self.results = kept
        return readings

    def problems(self, index, expected_specs):
        """What is wrong with the form of result `index`: a list of (code, message)."""
        found = []
        outputs = self._flatten(self.results[index])
        if len(outputs) != len(expected_specs):
            return [("output-count", "a call returned %d outputs, the reference %d" % (len(outputs),
                                                                                   len(expected_specs)))]
        for (name, value), spec in zip(outputs, expected_specs):
            trouble = self._trouble(value)
            if trouble:
                found.append(("output-type", "output %s %s" % (name, trouble)))
            elif list(value.shape) != spec["shape"]:
                found.append(("output-shape", "output %s has the shape %s, the reference %s" % (
                    name, list(value.shape), spec["shape"])))
            elif str(value.dtype) != spec["dtype"]:
                found.append(("output-dtype", "output %s is %s, the reference %s" % (name, value.dtype, spec["dtype"])))
        return found

    def outputs(self, index):
        """The output tensors of result `index`."""
        return [value for _, value in self._flatten(self.results[index])]


def reading_to_dict(reading):
    """A native reading as JSON can hold it."""
    return {name: (native.known(value) if isinstance(value, float) else value)
            for name, value in ((n, getattr(reading, n)) for n, _ in reading._fields_)}


def reading_from_dict(fields):
    """The inverse of reading_to_dict()."""
    reading = native.Reading()
    for name, _ in reading._fields_:
        value = fields[name]
        setattr(reading, name, float("nan") if value is None else value)
    return reading
