# SPDX-License-Identifier: Apache-2.0
"""Readings of one callable and of two sides, written as the eval JSON."""

import inspect
import math
import os
import sys
import time

from . import _native as native
from . import backends, evaljson, sides
from ._native import PlumblineError
from .case import Case, Workload, names_in_source
from .engine import Engine

_REFRESH_LIMIT_S = 0.25   # refreshing all sets before every window, as long as it takes no longer than this
_PER_CALL_ROUNDS = 2      # A B B A rounds of per-call windows
_PER_CALL_COUNT = 12      # calls in each
_SEALED_WINDOWS = 2
_FRESH_ROUNDS = 3         # A B B A rounds on fresh contents, where a board has fixed the judged ones
_FRESH_MARGIN = 0.05      # a student may be this much faster on the judged contents than on fresh ones
_CODES_STOP = {"wrong-output", "output-type", "output-count", "output-shape", "output-dtype", "patched"}


class _Refused(Exception):
    """The student broke a rule in a window: nothing more is measured of this workload."""


class _Blocked(Exception):
    """The student's call waited for the GPU behind the blocking kernel: a shorter window, or another kind, is needed."""


def measure_windows(fn, *, prep=None, inputs=None, calls=None, noise=0.005, time_limit_s=10.0, cold=True, session=None,
                    out=None):
    """Reads one callable in this process: both windows, host tax, interval, clock and temperature.

    fn: called without arguments, or with `inputs` (a list of dicts, rotated). prep: called once before, outside every
    window, with the first set of inputs (or nothing); its time is reported and what it returns (a dict) is passed on.
    calls: calls in a pipelined window (default: about 2 ms worth, 4 to 200). Returns a dict; times in ms; what could
    not be read is None with the reason in "notes". `out` writes it as JSON.
    """
    backend = None
    if session is None:
        backend = backends.choose()
        session = backend.open_session()
    report, sets = {"notes": []}, [dict(one) for one in inputs] if inputs else [{}]
    if prep is not None:
        report["prep"] = _run_prep(session, prep, sets)
    callables = [_bind(fn, one) for one in sets]
    for index in range(3):
        callables[index % len(callables)]()
    session.drain()
    quick = min(r.ms for r in session.per_call(callables, 0, 3, cold))
    calls = calls or max(4, min(200, math.ceil(2.0 / max(quick, 1e-3))))
    started, samples, readings, overhead = time.monotonic(), [], [], session.overhead()
    stop = "noise"
    while True:
        if cold:
            session.flush()
        reading = session.pipelined(callables, calls)
        if reading.flags & native.HOST_BLOCKED:
            if calls > 4 and not samples:
                calls = calls // 2
                continue
            report["notes"].append("the call waits for the GPU, so there is no pipelined window")
            break
        readings.append(reading)
        samples.append(reading.ms)
        if len(samples) >= 8 and evaljson.relative_error(samples) <= noise:
            break
        if time.monotonic() - started > time_limit_s or len(samples) >= 2000:
            stop = "time limit"
            break
    per_call = session.per_call(callables, 0, 2 * _PER_CALL_COUNT, cold)
    report.update(evaljson.side_block(samples, [r.ms for r in per_call], readings or per_call))
    report.update({"calls_per_window": calls, "stop": stop, "relative_error": evaljson.relative_error(samples),
                   "l2": evaljson.l2_label(session, sets, calls, cold, backend), "overhead": overhead,
                   "late_work": sum(bool(r.flags & native.LATE_WORK) for r in readings + list(per_call))})
    if report["late_work"]:
        report["notes"].append("the device was still busy after the closing event in %d windows" % report["late_work"])
    evaljson.write(report, out)
    return report


def _bind(fn, inputs):
    return (lambda: fn(**inputs)) if inputs else fn


def _run_prep(session, prep, sets):
    takes = len(inspect.signature(prep).parameters) > 0
    call = (lambda: prep(dict(sets[0]))) if takes else prep
    made = call()
    session.drain()
    readings = session.per_call([call], 0, 5, True)
    if isinstance(made, dict):
        for one in sets:
            one.update(prep(dict(one)) if takes else made)
    return {"ms": evaljson.median([r.ms for r in readings]),
            "outputs": {n: {"shape": list(v.shape), "dtype": str(v.dtype)} for n, v in (made or {}).items()
                        if hasattr(v, "shape")}}


def measure_windows_workloads(workloads, *, student, reference, prep=None, out=None, op=None, noise=0.005,
                              time_limit_s=20.0, cold=True, min_workloads=3, rounds=8, max_calls=200,
                              memory_bytes=8 << 30, load_limit_s=120.0, paths=None, require_geometric_mean=True):
    """Compares student and reference over workloads and returns the eval document (written to `out` as JSON).

    workloads: Workload objects. student, reference: "module:function" (isolated: each in a child process) or a callable
    (in this process, said in the report). A call receives the inputs that its parameters name. prep: a module-level
    function from a dict of inputs to a dict of tensors; it runs outside every window and both sides may take what it
    returns. Options: noise (relative standard error of the ratio to stop at), time_limit_s (of each workload), cold
    (L2 flushed), rounds (fewest A B B A rounds), load_limit_s (limit of each answer of a child).

    A student that breaks a rule gets findings in place of a ratio; the document is written all the same.
    """
    bench = _Bench(workloads, student, reference, prep, dict(
        noise=noise, time_limit_s=time_limit_s, cold=cold, rounds=rounds, load_limit_s=load_limit_s,
        max_calls=max_calls, min_calls=4, memory_bytes=memory_bytes), paths or _default_paths())
    try:
        results = bench.run()
        document = evaljson.document(op or _default_op(), results, bench, min_workloads, require_geometric_mean)
    finally:
        bench.close()
    evaljson.write(document, os.environ.get("PLUMBLINE_EVAL_OUT") or out)
    return document


def _default_paths():
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    here = os.path.dirname(os.path.abspath(file)) if file else os.getcwd()
    return [here, os.path.dirname(here)]


def _default_op():
    paths = _default_paths()
    return os.path.basename(paths[1]) if os.path.basename(paths[0]) == "eval" else os.path.basename(paths[0])


class _Bench:
    """The two sides, the parent's own session, and the loop over the workloads."""

    def __init__(self, workloads, student, reference, prep, options, paths):
        self.workloads, self.student_target, self.reference_target = list(workloads), student, reference
        if not self.workloads:
            raise PlumblineError("usage", "no workloads")
        self.prep, self.options, self.paths = prep, options, [os.path.abspath(p) for p in paths]
        self.backend = backends.choose()
        self.isolated = isinstance(student, str) and isinstance(reference, str)
        self.student = self.reference = None
        self.notes, self.overhead = [], None
        self._loaded = False
        if self.isolated:
            directory = self.paths[-1]
            self.student = sides.RemoteSide(student, self.paths, directory, options["load_limit_s"])
            self.reference = sides.RemoteSide(reference, self.paths, directory, options["load_limit_s"])
            self.reference.sees_reference = True
        self.session = self.backend.open_session()
        self.reference_function = sides.local_function(reference, self.paths)
        if not self.isolated:
            self.notes.append("not isolated: student and reference ran in the harness's own process")
            self.reference = sides.LocalSide(self.session, self.backend, self.reference_function)
            self.student = sides.LocalSide(self.session, self.backend, sides.local_function(student, self.paths))

    def close(self):
        """Ends the children."""
        for side in (self.student, self.reference):
            if side is not None:
                side.close()
        if self.backend.name != "scripted":
            self.session.close()

    def run(self):
        """The result block of each workload."""
        if not any(w.campaign for w in self.workloads):
            self.workloads[0].campaign = True
        results = []
        for workload in self.workloads:
            results.append(_WorkloadRun(self, workload).run())
            if results[-1]["findings"] and any(f["code"] in ("time-limit", "worker-died") for f in
                                               results[-1]["findings"]):
                self.notes.append("the student's process ended: the workloads after %s were not run" % workload.name)
                break
        return results


class _WorkloadRun:
    """One workload of a bench."""

    def __init__(self, bench, workload):
        self.bench, self.workload, self.options = bench, workload, bench.options
        self.notes = list(workload.notes)
        self.late = {"windows": 0, "late": 0}
        self.drained_ms = []
        self.refresh_s = 0.0
        self.refresh_every = True
        self.threads = set()
        self.kind = "pipelined"
        self.blocked_before = False
        self._openings = 0

    def run(self):
        """Measures; what the student broke becomes findings."""
        bench = self.bench
        names = names_in_source(bench.student_target, bench.paths) if bench.isolated else None
        if names is not None and self.workload.outputs:
            names = list(names) + [n for n in self.workload.outputs if n not in names]
        self.case = case = Case(self.workload, bench.session, bench.backend, bench.reference_function, bench.prep,
                                names, self.options)
        block = {"comparison": None, "per_call": {"student": [], "ref": []}, "sealed": []}
        try:
            self._measure(block)
        except _Refused:
            pass
        except PlumblineError as error:
            if error.code in ("no-driver", "no-device", "inputs", "outputs", "input-type", "usage"):
                raise
            case.find(error.code, str(error))
        if self.late["late"] * 2 > self.late["windows"]:
            case.find("late-work", "the device was still busy after the closing event in %d of %d of the student's "
                      "windows: work on another stream, or after the call" % (self.late["late"], self.late["windows"]))
        result = evaljson.workload_block(self, block)
        if bench.prep is not None:
            result["prep"] = self._prep_block()
        case.close()
        return result

    def _measure(self, block):
        bench, case = self.bench, self.case
        self._attach_and_aa_ready()
        self.calls = case.sets
        started = time.monotonic()
        case.refresh(judged=False)  # the contents that are judged are in no process before the student is in its own
        self.refresh_s = time.monotonic() - started
        self.refresh_every = self.refresh_s <= _REFRESH_LIMIT_S
        if not self.refresh_every:
            self.notes.append("refreshing the inputs takes %.2f s: done once a round only in the sealed windows"
                              % self.refresh_s)
        self._shorten_until_pipelined()
        if bench.overhead is None:
            bench.overhead = bench.reference.overhead()
        while block["comparison"] is None:
            self._openings = 0
            try:
                block["comparison"] = bench.session.compare(
                    self._window, noise=self.options["noise"], time_limit_s=self.options["time_limit_s"],
                    min_rounds=self.options["rounds"])
            except _Blocked:
                self._give_way()
        self._per_call(block["per_call"])
        if self.workload.draws:
            self._on_fresh_contents(block)
        if self.kind == "pipelined" and bench.isolated and bench.backend.asynchronous:
            self._sealed(block["sealed"])

    def _give_way(self):
        """After a blocked window of the student: once more (a module is loaded, memory grows on first use), then half the
        calls, at last per-call windows for both sides."""
        self._aa_remote = False  # the student's module is loaded by now
        if self.blocked_before:
            self.calls //= 2
        self.blocked_before = True
        if self.calls < 2:
            self._use_per_call("the student waits for the GPU in its call")

    def _use_per_call(self, why):
        self.kind, self.calls = "per_call", min(_PER_CALL_COUNT, self.case.sets)
        self.notes.append(why + ": both sides are compared by per-call windows")

    def _attach_and_aa_ready(self):
        bench, case = self.bench, self.case
        bench.reference.attach(case)
        if bench.isolated:
            if not bench._loaded:
                bench.reference.load()
            self._student_ready = False
            # The A/A run: the reference in the student's own process, before the student's module is loaded. It may
            # receive there what only the reference may see, so it is left out when there is such a tensor.
            self._aa_remote = not bench._loaded and len(case._arenas) == 1
            bench.student.attach(case)
            if self._aa_remote:
                bench.student.load(bench.reference_target)
                bench.student.warm(min(3, case.sets), self.options["load_limit_s"])
        else:
            bench.student.attach(case)
            self._student_ready, self._aa_remote = False, False
        bench.reference.warm(min(6, case.sets), self.options["load_limit_s"])

    def _load_student(self):
        bench = self.bench
        if self._student_ready:
            return
        if bench.isolated and not bench._loaded:
            answer = bench.student.load(guard=True)
            bench._loaded = True
            self.threads.add(answer.get("threads"))
        # Whatever the A/A run left in this process was made of other contents than what comes now.
        self.case.refresh()
        bench.student.warm(min(6, self.case.sets), self.options["load_limit_s"])
        self._student_ready = True

    def _shorten_until_pipelined(self):
        """The launch queue of a GPU holds about a thousand launches; a longer window would wait for itself."""
        while self.calls >= 2:
            result = self.bench.reference.window("pipelined", self.calls, collect=False, cold=self.options["cold"])
            if not result.readings[0].flags & native.HOST_BLOCKED:
                return
            self.calls //= 2
        self._use_per_call("the reference waits for the GPU in its call")

    def _window(self, side, number):
        bench, case = self.bench, self.case
        # Each round has two windows of the reference: the third of round 0 is the first one after the A/A run.
        self._openings += side == 0 and number == 0
        judged = self._openings > 2 or side == 1
        if self.refresh_every or (judged and self.workload.draws):
            case.refresh(judged)
        if side == 0:
            return self._one(bench.reference)
        if side == 2:
            return self._one(bench.student if self._aa_remote else bench.reference)
        self._load_student()
        case.poison_outputs()
        return self._one(bench.student, hold=True)

    def _one(self, target, hold=False):
        """A reading of `target` by the window kind in use; of per-call windows the median."""
        result = target.window(self.kind, self.calls, cold=self.options["cold"])
        if hold:
            self._hold(result, 0, self.calls)
            if result.readings[0].flags & native.HOST_BLOCKED:
                raise _Blocked
        return evaljson.middle_reading(result.readings)

    def _hold(self, result, first, calls):
        for reading in result.readings:
            self.late["windows"] += 1
            self.drained_ms.append(reading.drained_ms)
            self.late["late"] += bool(reading.flags & native.LATE_WORK)
        if result.threads is not None:
            self.threads.add(result.threads)
        self.case.check(result, first, calls)
        if _CODES_STOP & set(self.case.findings) or (self.late["late"] >= 3 and
                                                     self.late["late"] * 2 > self.late["windows"]):
            raise _Refused

    def _per_call(self, block):
        count = min(_PER_CALL_COUNT, self.case.sets)
        for _ in range(_PER_CALL_ROUNDS):
            for side in (0, 1, 1, 0):
                if self.refresh_every:
                    self.case.refresh()
                if side == 1:
                    self.case.poison_outputs()
                target = self.bench.student if side else self.bench.reference
                result = target.window("per_call", count, cold=self.options["cold"])
                if side:
                    self._hold(result, 0, count)
                block["student" if side else "ref"].extend(r.ms for r in result.readings)

    def _on_fresh_contents(self, block):
        """The same comparison on contents that nobody has fixed: who knows the judged ones beforehand may keep their
        results, and is then faster on them."""
        logs = []
        for _ in range(_FRESH_ROUNDS):
            ms = {0: 0.0, 1: 0.0}
            for side in (0, 1, 1, 0):
                self.case.refresh(judged=False)
                target = self.bench.student if side else self.bench.reference
                ms[side] += self._one(target, hold=side == 1).ms
            logs.append(math.log(ms[0] / ms[1]))
        comparison = block["comparison"][0]
        block["fresh_ratio"] = math.exp(sum(logs) / len(logs))
        gain = comparison.ratio / block["fresh_ratio"] - 1
        if gain > max(_FRESH_MARGIN, 3 * comparison.smallest_difference):
            self.case.find("draws-remembered", "the student is %.0f %% faster, against the reference, on the judged input "
                           "sets than on fresh ones: it keeps results of inputs that it knows" % (100 * gain))

    def _sealed(self, sealed):
        """Windows whose inputs get their contents after everything is enqueued: nothing can be known beforehand."""
        for _ in range(_SEALED_WINDOWS):
            result = self.bench.student.window("pipelined", self.calls, cold=self.options["cold"],
                                               before_release=lambda: self.case.refresh(judged=False))
            self._hold(result, 0, self.calls)
            sealed.append(result.readings[0].ms)

    def _prep_block(self):
        call = self.case.prep_call()
        call()
        self.bench.session.drain()
        readings = self.bench.session.per_call([call], 0, 7, self.options["cold"])
        report = self.case.prep_report()
        report["ms"] = native.known(evaljson.median([r.ms for r in readings]))
        return report
