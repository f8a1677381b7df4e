# SPDX-License-Identifier: Apache-2.0
"""One workload: its input sets in shared memory, their refreshing, the expected outputs and the checks."""

import inspect
import math
import random
import time

from . import accuracy, backends
from . import boundary as boundaries
from ._native import PlumblineError
from .arena import Arena
from .engine import flatten, named, wanted

_EXACT_BYTES = 1 << 30  # the reference is run in double precision for inputs up to this size
_EXACT_TIMES, _EXACT_S = 4, 0.1  # so often, once in the first window and then by chance; once where it takes longer
_WINDOW_MS = 2.0  # a pipelined window is about this long: an event's resolution and the GPU's start are far below


def build_case(workload, session, backend, reference, prep, limits, boundary=None, student_names=None):
    """A workload made ready. `boundary`: what the contract lets each side receive (boundary.Boundary or None);
    `student_names`: the parameters of the student where its source says them."""
    case = Case(workload, session, backend, reference, prep, boundary)
    first = case.make()
    case.learn(first, limits)
    case.share(first, student_names)
    case.refresh(judged=False)
    return case


class Case:
    """A workload made ready: input sets, expected outputs, checks. Everything in it belongs to the parent."""

    def __init__(self, workload, session, backend, reference, prep, boundary):
        self.workload, self.session, self.backend = workload, session, backend
        self.reference, self.prep, self.boundary = reference, prep, boundary
        self._random = random.SystemRandom()
        self._calls_seed = len(inspect.signature(workload.make_inputs).parameters) > 0
        self.findings = {}
        self.mutated_prep = set()
        self.checked = 0
        self.output_error = None
        self._exact_left = _EXACT_TIMES
        self._judged = None
        self._delivered = set()  # the sets that hold what _pristine says

    def learn(self, first, limits):
        """What one set and one call of the reference say: sizes, outputs, how many sets."""
        self.prep_names = list(self._prepared) if self.prep else []
        self.set_bytes = self._bytes(first)
        self.reference_receives = self._names_of_reference(first)
        self.output_specs = self._output_layout(self._run_reference(first, watch=True))
        out_bytes = sum(s["nbytes"] for s in self.output_specs)
        self.sets = self._set_count(limits, out_bytes, self._quick_ms(first))

    def _names_of_reference(self, first):
        may = boundaries.allowed(self.boundary, "reference", first, self.workload.outputs, self.backend.is_tensor)
        asked = wanted(self.reference, list(first))
        beyond = [n for n in asked if n not in may]
        if beyond and named(self.reference, beyond):
            raise PlumblineError("boundary", "the reference takes %s, which its inputs in window.toml do not list"
                                 % ", ".join(beyond))
        return [n for n in asked if n in may]

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
        most = max(2, min(limits["max_calls"], budget // (4 * per_set), 1024))
        self.rotates_cold = cold <= most
        # A call of a window has a set of its own, so the sets are as many as the calls of a window worth reading.
        calls = math.ceil(_WINDOW_MS / max(quick_ms, 1e-3)) if quick_ms else 1
        sets = int(min(max(cold, calls, limits["min_calls"], 2), most))
        draws = len(self.workload.draws or [1])
        return max(sets - sets % draws, draws)  # every draw as often as every other

    # -- inputs
    def make(self, draw=None):
        """One set of inputs, with what prep makes of it; `draw` as Workload.draws."""
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

    def share(self, first, student_names):
        """Memory for the sets: one arena that both sides attach, one that only the reference does, and the outbox."""
        missing = [n for n in self.workload.outputs if n not in first]
        if missing:
            raise PlumblineError("inputs", "outputs= names %s, which make_inputs does not make" % ", ".join(missing))
        may = boundaries.allowed(self.boundary, "student", first, self.workload.outputs, self.backend.is_tensor)
        self.note_asked(student_names, first, may)
        if student_names is None:
            shared = may
        else:
            shared = [n for n in may if n in student_names or n in self.workload.outputs]
        private = [n for n in self.reference_receives if n not in shared]
        self._arenas = [Arena(self.session, self.backend, {n: first[n] for n in shared}, self.sets)]
        if private:
            self._arenas.append(Arena(self.session, self.backend, {n: first[n] for n in private}, self.sets))
        self._pristine = [None] * self.sets
        self._expected = [None] * self.sets
        self.sets_for_student = self._arenas[0].views
        self.sets_for_reference = [dict(kv for arena in self._arenas for kv in arena.views[i].items())
                                   for i in range(self.sets)]
        # What is not a device tensor was sent once: every set has the first one's.
        self._fixed = {name: value for arena in self._arenas for name, value in arena.views[0].items()
                       if arena.specs[name]["kind"] != "tensor"}
        self.student_receives, self._student_may, self._made = shared, may, list(first)
        self._make_outbox(self.sets)

    @property
    def receives(self):
        """What each side is handed, in a contract's words: tensors, and of the plain numbers those that it lists all the same."""
        handed = {"ref": ("reference", self.reference_receives), "student": ("student", self.student_receives)}
        return {key: [n for n in names if n not in self._fixed or (self.boundary and n in getattr(self.boundary, side))]
                for key, (side, names) in handed.items()}

    @property
    def one_boundary(self):
        """Do both sides receive the same?"""
        return len(self._arenas) == 1

    def note_asked(self, names, made=None, may=None):
        """A finding where the student asks for what the workload makes and the contract does not list for it."""
        made, may = made or self._made, self._student_may if may is None else may
        beyond = [n for n in names or () if n in made and n not in may]
        if beyond:
            self.find("undeclared-parameter", "the student's parameters ask for %s, which its inputs in window.toml do not "
                      "list" % ", ".join(beyond))

    def is_reference(self, function):
        """Is this the reference's own function?"""
        return function is self.reference

    def _contents(self, index, judged):
        """What set `index` is to hold, and what the reference makes of it."""
        if not (judged and self.workload.draws):
            fresh = dict(self.make(), **self._fixed)
            return fresh, self._run_reference(fresh)
        if self._judged is None:
            made = [dict(self.make(draw), **self._fixed) for draw in self.workload.draws]
            self._judged = [(one, self._run_reference(one)) for one in made]
        return self._judged[index % len(self._judged)]

    def prepare(self, judged=True, fresh=True):
        """Other contents for every set and what the reference makes of them, in the parent's own memory: fresh ones, or
        the judged draws where the workload names such (and `judged`). Without `fresh` those that are there, each in another
        set than before."""
        places = self._random.sample(range(self.sets), self.sets)
        self._delivered = set()
        if fresh or self._pristine[0] is None:
            for index, place in enumerate(places):
                self._pristine[place], self._expected[place] = self._contents(index, judged)
        else:
            self._pristine = [self._pristine[place] for place in places]
            self._expected = [self._expected[place] for place in places]

    def deliver(self, only=None):
        """Brings the prepared contents to where the sides read them: all sets, or set `only`."""
        for index in range(self.sets) if only is None else [only % self.sets]:
            self._delivered.add(index)
            for arena in self._arenas:
                for name, view in arena.views[index].items():
                    if arena.specs[name]["kind"] == "tensor":
                        if arena.specs[name]["shape"] != list(self._pristine[index][name].shape):
                            raise PlumblineError("inputs", "make_inputs changes the shape of %s between calls" % name)
                        self.backend.copy_into(view, self._pristine[index][name])
            for name in self.workload.outputs:
                self.backend.poison_view(self.sets_for_reference[index][name])
        self.backend.ready()

    def refresh(self, judged=True):
        """Fresh contents for every set, at once."""
        self.prepare(judged)
        self.deliver()

    def _run_reference(self, inputs, watch=False):
        arguments = {n: inputs[n] for n in self.reference_receives}
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
            if len(shape) > 16:
                raise PlumblineError("outputs", "an output of the reference has more than 16 dimensions")
            specs.append({"kind": "tensor", "shape": shape, "strides": strides, "dtype": str(value.dtype),
                          "nbytes": nbytes, "offset": offset, "item_bytes": value.itemsize})
            offset += -(-max(nbytes, 1) // backends.ALIGNMENT) * backends.ALIGNMENT
        self._out_stride = max(offset, backends.ALIGNMENT)
        return specs

    def _make_outbox(self, slots):
        self._outbox = self.session.alloc(self._out_stride * slots)
        self._taken = self.session.alloc(self._out_stride * slots)
        if self.output_specs:
            self.outbox_views = [[self.backend.view(self._taken + i * self._out_stride + s["offset"], s)
                                  for s in self.output_specs] for i in range(slots)]

    def attach_message(self, reference):
        """The command that shares this workload with a child; the student's has no tensor that only the reference
        receives. The outbox is the student's alone: what the reference made would lie there for it to find."""
        arenas = self._arenas if reference else self._arenas[:1]
        outbox = self._outbox if not reference else None
        return {"do": "attach", "sets": self.sets, "arenas": [a.message(self.session) for a in arenas],
                "receives": self.reference_receives if reference else None, "written": list(self.workload.outputs),
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
        if result.early:
            self.find("window-forged", "a window had opened before the harness opened it")
        scalars, labels, exact = [], [], self._turn_of_exact(calls)
        for call in range(calls):
            index = (first + call) % self.sets
            if call < len(result.outputs):
                got = result.outputs[call]
            elif self.workload.outputs and result.brackets is None:  # in this process: the inputs themselves
                got = [self.sets_for_reference[index][n] for n in self.workload.outputs]
            else:
                continue
            if got and call == exact:
                self._hold_to_exact(index, got)
            for position, (value, want) in enumerate(zip(got or [], self._expected[index])):
                tolerance = self.workload.tolerance or backends.tolerance_of(want.dtype) or 1.0
                scalars.append(accuracy.error(self.backend, value, want, tolerance))
                labels.append((call, position))
        errors = self.backend.read(scalars)
        self.checked += len(errors)
        bad = [(label, e) for label, e in zip(labels, errors) if not e <= 1.0]
        if bad:
            (call, position), error = bad[0]
            self.find("wrong-output", "output %d of call %d of a timed window is off by %s times the tolerance "
                      "(%d of %d outputs wrong)" % (position, call, _short(error), len(bad), len(errors)))
        if result.brackets is None:  # elsewhere they were looked at while the other process was held
            self._check_inputs()

    def _turn_of_exact(self, calls):
        """The call of this window that is held to double precision, or None."""
        if self._exact_left and (self.output_error is None or self._random.random() < 0.3):
            return self._random.randrange(calls)
        return None

    def _hold_to_exact(self, index, got):
        """Notes how far both sides are off the reference in double precision, and finds outputs that are partly lost."""
        self._exact_left -= 1
        started, found = time.monotonic(), {}
        if self.set_bytes <= _EXACT_BYTES:
            try:
                found = self._by_exact(index, got)
            except Exception:  # noqa: B902 - a reference need not know double precision
                found = {}
        if not found or time.monotonic() - started > _EXACT_S:
            self._exact_left = 0
        if found.pop("lost", 0) and self.workload.tolerance is None:
            self.find("wrong-output", "a part of an output is off by more than half of its own size, where the reference "
                      "knows it within 2 %")
        if self.output_error is None or found and found["student"] > self.output_error.get("student", 0):
            self.output_error = found

    def _by_exact(self, index, got):
        backend = self.backend
        with backend.quiet_grad():
            exact = self._run_reference({n: backend.exact(v) for n, v in self._pristine[index].items()})
            three = [one for one in zip(got, self._expected[index], exact) if backend.is_exact(one[2])]
            if not three:
                return {}
            student = backend.read([accuracy.distance(backend, value, true) for value, _, true in three])
            reference = backend.read([accuracy.distance(backend, want, true) for _, want, true in three])
            lost = backend.read([accuracy.lost(backend, *one) for one in three])
        return {"student": max(student), "reference": max(reference), "lost": max(lost)}

    def take(self, calls):
        """A copy of what the first `calls` calls left in the outbox, as the student's process has it now, and a look at its
        inputs: from here on it may do what it likes. Returns the milliseconds that the copy took."""
        started = time.monotonic()
        if calls:
            self.session.copy(self._taken, self._outbox, self._out_stride * calls)
            self.session.drain()
        took = 1e3 * (time.monotonic() - started)
        self._check_inputs()
        return took

    def _check_inputs(self):
        # Three sets at random: a mutation that pays must touch them all. Per-call windows bring fewer sets than there are.
        scalars, labels, there = [], [], sorted(self._delivered)
        for index in self._random.sample(there, min(3, len(there))):
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

    is_open = True

    def carry_on(self, before):
        """Takes over what was found with an earlier case of the same workload."""
        self.findings.update(before.findings)
        self.mutated_prep |= before.mutated_prep
        self.checked += before.checked
        self.output_error = before.output_error

    def close(self):
        """Gives the memory back."""
        if not self.is_open:
            return
        self.is_open = False
        for arena in self._arenas:
            self.session.free(arena.address)
        self.session.free(self._outbox)
        self.session.free(self._taken)
        self._pristine = self._expected = self._judged = self._arenas = None
        self.sets_for_student = self.sets_for_reference = self.outbox_views = None


def _short(error):
    return "NaN" if error != error else "%.3g" % error
