# SPDX-License-Identifier: Apache-2.0
"""One side in one process: its function bound to the input sets, its windows, its outputs."""

import functools
import importlib
import inspect
import sys

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


def named(function, names):
    """Does `function` name any of `names` as a parameter, rather than take whatever comes?"""
    return bool(set(asked(function) or ()) & set(names))


def flatten(result):
    """The outputs of a call as a list of (name, value): a tensor, a tuple or list, or a dict of them."""
    if result is None:
        return []
    if isinstance(result, dict):
        return [(str(key), result[key]) for key in result]
    if isinstance(result, (tuple, list)):
        return [(str(index), value) for index, value in enumerate(result) if value is not None]
    return [("0", result)]


def asked(function):
    """The names of a function's parameters, whatever it is given; None where nobody can say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.POSITIONAL_ONLY)]


def bind(function, sets):
    """(names that the function takes of a set, a callable without arguments for each set)."""
    if function is None or not sets:
        return [], []
    names = wanted(function, list(sets[0]))
    return names, [functools.partial(function, **{n: one[n] for n in names}) for one in sets]


class Engine:
    """Windows of one function over input sets, both in this process: no isolation."""

    def __init__(self, session, backend):
        self.session = session
        self.backend = backend
        self.callables = []
        self.results = []

    def bind(self, function, sets):
        """The function and the input sets (dicts) that the windows take in turn."""
        self.callables = bind(function, sets)[1]

    def warm(self, calls):
        """Untimed calls (compilation, autotuning, allocation), each on its own set, and waits for them."""
        for index in range(calls):
            self.callables[index % len(self.callables)]()
        self.session.drain()

    def window(self, kind, calls, first=0, cold=True, output_specs=()):
        """One pipelined window, or `calls` per-call windows: a list of readings. The results stay in `results`."""
        self.results = []
        order = [self.callables[(first + i) % len(self.callables)] for i in range(calls)]
        kept = [None] * calls
        if output_specs:
            self.backend.poison([spec for _ in range(calls) for spec in output_specs])
            self.session.drain()
        if kind == "pipelined":
            if cold:
                self.session.flush()
            readings = [self.session.pipelined(order, calls, kept)]
        else:
            readings = self.session.per_call(order, 0, calls, cold, kept)
        self.results = kept
        return readings

    def problems(self, index, expected_specs):
        """What is wrong with the form of result `index`: a list of (code, message)."""
        found = []
        outputs = flatten(self.results[index])
        if len(outputs) != len(expected_specs):
            return [("output-count", "a call returned %d outputs, the reference %d" % (len(outputs),
                                                                                   len(expected_specs)))]
        for (name, value), spec in zip(outputs, expected_specs):
            trouble = self.backend.trouble(value)
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
        return [value for _, value in flatten(self.results[index])]
