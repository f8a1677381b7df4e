# SPDX-License-Identifier: Apache-2.0
"""One workload: its input sets in shared memory, their refreshing, the expected outputs and the checks."""

import ast
import inspect
import os
import math
import random

from . import backends
from ._native import PlumblineError
from .engine import flatten, wanted

_WINDOW_MS = 2.0  # a pipelined window is about this long: an event's resolution and the GPU's start are far below


class Workload:
    """What is timed: `make_inputs(seed)` (or without a parameter) returns a dict of tensors and plain values.

    name: its name in the report. campaign: this is the workload whose table is priced. tolerance: relative error that
    an output may have (default by dtype). outputs: names of inputs that a call writes in place of returning. shape:
    free facts for the report. draws: where somebody else has fixed the input sets that are judged, a list of
    (seed, rounds): every generator is seeded with `seed`, make_inputs(seed), make_inputs(seed + 1), ... are called `rounds`
    times, and the last of them is judged. The windows then rotate over these contents and no other; the A/A run, the
    sealed windows and a comparison that follows use fresh ones.
    """

    def __init__(self, name, make_inputs, *, campaign=False, tolerance=None, outputs=(), shape=None, draws=None):
        self.name = name
        self.make_inputs = make_inputs
        self.campaign = campaign
        self.tolerance = tolerance
        self.outputs = tuple(outputs)
        self.shape = shape
        self.draws = list(draws) if draws else None
        self.fresh_inputs = make_inputs  # where contents are made that nobody has fixed
        self.notes = []


def names_in_source(target, paths):
    """The parameter names of "module:function" read from its file without running it, or None."""
    module, _, function = target.partition(":")
    for path in paths:
        file = os.path.join(path, *module.split(".")) + ".py"
        if not os.path.isfile(file):
            continue
        try:
            with open(file, encoding="utf-8") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            return None
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == function and node.args.kwarg is None:
                return [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        return None
    return None


class _Arena:
    """One allocation that holds some names of every input set."""

    def __init__(self, session, backend, inputs, sets):
        self.specs, size = backend.layout(inputs)
        self.stride = max(size, backends.ALIGNMENT)
        self.address = session.alloc(self.stride * sets)
        self.handle = None
        self.views = [backend.build(self.address + i * self.stride, self.specs) for i in range(sets)]

    def message(self, session):
        if self.handle is None:
            self.handle = session.share(self.address)
        return {"handle": self.handle, "stride": self.stride, "specs": self.specs}


class Case:
    """A workload made ready: input sets, expected outputs, checks. Everything in it belongs to the parent."""

    def __init__(self, workload, session, backend, reference, prep, student_names, limits):
        self.workload, self.session, self.backend = workload, session, backend
        self.reference, self.prep = reference, prep
        self._random = random.SystemRandom()
        self._calls_seed = len(inspect.signature(workload.make_inputs).parameters) > 0
        self.findings = {}
        self.mutated_prep = set()
        self.checked = 0
        self._judged = None
        first = self._make()
        self.prep_names = list(self._prepared) if prep else []
        self.set_bytes = self._bytes(first)
        result = self._run_reference(first, watch=True)
        self.output_specs = self._output_layout(result)
        out_bytes = sum(s["nbytes"] for s in self.output_specs)
        self.sets = self._set_count(limits, out_bytes, self._quick_ms(first))
        self._split(first, student_names)
        self._make_outbox(self.sets)
        self.refresh(judged=False)

    def _bytes(self, inputs):
        return sum(s.get("nbytes", 0) for s in (self.backend.describe(v) for v in inputs.values()))

    def _quick_ms(self, inputs):
        """About how long the reference takes, to size the windows; None where it waits for the GPU."""
        self._run_reference(inputs)
        self.session.drain()
        reading = self.session.pipelined([lambda: self._run_reference(inputs)] * 4)
        return reading.ms if reading.ms > 0 else None

    def _set_count(self, limits, out_bytes, quick_ms):
        l2 = self.session.info()["l2_bytes"]
        per_set = max(self.set_bytes + out_bytes, 1)
        cold = -(-2 * l2 // per_set) + 1
        budget = min(limits["memory_bytes"], self.backend.free_bytes() // 4)
        most = max(2, min(limits["max_calls"], budget // (4 * per_set)))
        self.rotates_cold = cold <= most
        # A call of a window has a set of its own, so the sets are as many as the calls of a window worth reading.
        calls = math.ceil(_WINDOW_MS / max(quick_ms, 1e-3)) if quick_ms else 1
        sets = int(min(max(cold, calls, limits["min_calls"], 2), most))
        draws = len(self.workload.draws or [1])
        return max(sets - sets % draws, draws)  # every draw as often as every other

    # -- inputs
    def _make(self, draw=None):
        seed, rounds = draw or (self._random.randrange(1 << 31), 1)
        self.backend.seed(seed)
        make = self.workload.make_inputs if draw else self.workload.fresh_inputs
        for number in range(rounds):
            inputs = make(seed + number) if self._calls_seed else make()
        if not isinstance(inputs, dict):
            raise PlumblineError("inputs", "make_inputs of %r returned no dict" % self.workload.name)
        inputs = dict(inputs)
        self._prepared = {}
        if self.prep is not None:
            self._prepared = dict(self.prep(dict(inputs)))
            inputs.update(self._prepared)
        return inputs

    def _split(self, first, student_names):
        missing = [n for n in self.workload.outputs if n not in first]
        if missing:
            raise PlumblineError("inputs", "outputs= names %s, which make_inputs does not make" % ", ".join(missing))
        reference_names = wanted(self.reference, list(first))
        if student_names is None:
            shared = list(first)
        else:
            shared = [n for n in first if n in student_names]
        private = [n for n in reference_names if n not in shared]
        self._arenas = [_Arena(self.session, self.backend, {n: first[n] for n in shared}, self.sets)]
        if private:
            self._arenas.append(_Arena(self.session, self.backend, {n: first[n] for n in private}, self.sets))
        self._pristine = [None] * self.sets
        self._expected = [None] * self.sets
        self.sets_for_student = self._arenas[0].views
        self.sets_for_reference = [dict(kv for arena in self._arenas for kv in arena.views[i].items())
                                   for i in range(self.sets)]
        # What is no device tensor was sent once: every set has the first one's.
        self._fixed = {name: value for arena in self._arenas for name, value in arena.views[0].items()
                       if arena.specs[name]["kind"] != "tensor"}
        self.student_receives = shared

    def is_reference(self, function):
        """Is this the reference's own function?"""
        return function is self.reference

    def _contents(self, index, judged):
        """What set `index` is to hold, and what the reference makes of it."""
        if not (judged and self.workload.draws):
            fresh = dict(self._make(), **self._fixed)
            return fresh, self._run_reference(fresh)
        if self._judged is None:
            made = [dict(self._make(draw), **self._fixed) for draw in self.workload.draws]
            self._judged = [(one, self._run_reference(one)) for one in made]
        return self._judged[index % len(self._judged)]

    def refresh(self, judged=True):
        """Other contents for every set: fresh ones, or the judged draws where the workload names such (and `judged`)."""
        for index in range(self.sets):
            fresh, expected = self._contents(index, judged)
            for arena in self._arenas:
                for name, view in arena.views[index].items():
                    if arena.specs[name]["kind"] == "tensor":
                        if arena.specs[name]["shape"] != list(fresh[name].shape):
                            raise PlumblineError("inputs", "make_inputs changes the shape of %s between calls" % name)
                        self.backend.copy_into(view, fresh[name])
            self._pristine[index], self._expected[index] = fresh, expected
        self.poison_outputs()
        self.backend.ready()

    def poison_outputs(self):
        """Fills the inputs that a call writes with NaN patterns."""
        for index in range(self.sets if self.workload.outputs else 0):
            for name in self.workload.outputs:
                self.backend.poison_view(self.sets_for_reference[index][name])

    def _run_reference(self, inputs, watch=False):
        names = wanted(self.reference, list(inputs))
        arguments = {n: inputs[n] for n in names}
        for name in self.workload.outputs:
            if name in arguments:
                arguments[name] = self.backend.clone(arguments[name])
        before = {n: self.backend.clone(v) for n, v in arguments.items()
                  if watch and self.backend.is_tensor(v) and n not in self.workload.outputs}
        result = [value for _, value in flatten(self.reference(**arguments))]
        for name in before:
            if self.backend.read([self.backend.same(arguments[name], before[name])]) != [1.0]:
                raise PlumblineError("inputs", "the reference changes its input %s: name it with outputs=, or let the "
                                     "reference work on a copy" % name)
        return [arguments[n] for n in self.workload.outputs] if self.workload.outputs else result

    # -- outputs
    def _output_layout(self, outputs):
        specs, offset = [], 0
        if self.workload.outputs:
            return []
        if not outputs:
            raise PlumblineError("outputs", "the reference returns nothing: name what it writes with outputs=")
        for value in outputs:
            trouble = self.backend.trouble(value)
            if trouble:
                raise PlumblineError("outputs", "an output of the reference " + trouble)
            shape, strides, step = list(value.shape), [], 1
            for n in reversed(shape):
                strides.insert(0, step)
                step *= max(n, 1)
            nbytes = step * value.itemsize if all(shape) else 0
            specs.append({"kind": "tensor", "shape": shape, "strides": strides, "dtype": str(value.dtype),
                          "nbytes": nbytes, "offset": offset})
            offset += -(-max(nbytes, 1) // backends.ALIGNMENT) * backends.ALIGNMENT
        self._out_stride = max(offset, backends.ALIGNMENT)
        return specs

    def _make_outbox(self, slots):
        self.outbox_views, self._outbox = [], None
        if self.output_specs:
            self._outbox = self.session.alloc(self._out_stride * slots)
            self.outbox_views = [[self.backend.view(self._outbox + i * self._out_stride + s["offset"], s)
                                  for s in self.output_specs] for i in range(slots)]

    def attach_message(self, reference):
        """The command that shares this workload with a child; the student's has no tensor that only the reference
        receives. The outbox is the student's alone: what the reference made would lie there for it to find."""
        arenas = self._arenas if reference else self._arenas[:1]
        outbox = self._outbox if not reference else None
        return {"do": "attach", "sets": self.sets, "arenas": [a.message(self.session) for a in arenas],
                "outbox": {"handle": self.session.share(outbox) if outbox else None,
                           "slots": self.sets, "stride": getattr(self, "_out_stride", 0), "specs": self.output_specs}}

    # -- checks
    def find(self, code, message):
        """Notes a finding; one of a code is kept, with a count."""
        entry = self.findings.setdefault(code, {"code": code, "message": message, "count": 0})
        entry["count"] += 1

    def check(self, result, first, calls):
        """Holds the outputs of a window to the reference, and the inputs to what they were."""
        for code, message in result.problems:
            self.find(code, message)
        for name in result.patched:
            self.find("patched", "the student replaced %s" % name)
        scalars, labels = [], []
        for call in range(calls):
            index = (first + call) % self.sets
            if self.workload.outputs:
                got = [self.sets_for_reference[index][n] for n in self.workload.outputs]
            elif call < len(result.outputs):
                got = result.outputs[call]
            else:
                continue
            for position, (value, want) in enumerate(zip(got or [], self._expected[index])):
                tolerance = self.workload.tolerance or backends.tolerance_of(want.dtype) or 1.0
                scalars.append(self.backend.error(value, want, tolerance))
                labels.append((call, position))
        errors = self.backend.read(scalars)
        self.checked += len(errors)
        bad = [(label, e) for label, e in zip(labels, errors) if not e <= 1.0]
        if bad:
            (call, position), error = bad[0]
            self.find("wrong-output", "output %d of call %d of a timed window is off by %s times the tolerance "
                      "(%d of %d outputs wrong)" % (position, call, _short(error), len(bad), len(errors)))
        self._check_inputs()

    def _check_inputs(self):
        # Three sets at random: a mutation that pays must touch them all.
        scalars, labels = [], []
        for index in self._random.sample(range(self.sets), min(3, self.sets)):
            for name, view in self._arenas[0].views[index].items():
                if self._arenas[0].specs[name]["kind"] == "tensor" and name not in self.workload.outputs:
                    scalars.append(self.backend.same(view, self._pristine[index][name]))
                    labels.append(name)
        for name, same in zip(labels, self.backend.read(scalars)):
            if same != 1.0:
                if name in self.prep_names:
                    self.mutated_prep.add(name)
                    self.find("prep-mutated", "the timed call changed the prep tensor %s" % name)
                else:
                    self.find("input-mutated", "the timed call changed the input %s" % name)

    def prep_report(self):
        """The prep block of this workload, without its time."""
        inputs = self._pristine[0]
        return {"outputs": {n: {"shape": list(inputs[n].shape), "dtype": str(inputs[n].dtype)}
                            for n in self.prep_names if hasattr(inputs[n], "shape")},
                "mutated": sorted(self.mutated_prep)}

    def prep_call(self):
        """A call of prep on raw inputs, for timing it."""
        raw = {n: v for n, v in self._pristine[0].items()}
        return lambda: self.prep(dict(raw))

    def close(self):
        """Gives the shared memory back."""
        for arena in self._arenas:
            self.session.free(arena.address)
        if self._outbox:
            self.session.free(self._outbox)


def _short(error):
    return "NaN" if error != error else "%.3g" % error
