# SPDX-License-Identifier: Apache-2.0
"""One workload of a bench: from the quiet reading before the student to its block of the eval."""

import math
import time

from . import _native as native
from . import clocks, evaljson, quiet
from ._native import PlumblineError
from .case import build_case
from .engine import asked
from .workload import names_in_source

_REFRESH_LIMIT_S = 0.25   # refreshing all sets before every window, as long as it takes no longer than this
_PER_CALL_ROUNDS = 2      # A B B A rounds of per-call windows
PER_CALL_COUNT = 12       # calls in each
_SEALED_WINDOWS = 2
_FRESH_ROUNDS = 3         # A B B A rounds on fresh contents, where a board has fixed the judged ones
_FRESH_MARGIN = 0.02      # a student may be this much faster on contents that it can know than on fresh ones
_CODES_STOP = {"wrong-output", "output-type", "output-count", "output-shape", "output-dtype", "patched", "mode-active",
               "window-forged", "undeclared-parameter"}


class _Refused(Exception):
    """The student broke a rule in a window: nothing more is measured of this workload."""


class _Blocked(Exception):
    """The student's call waited for the GPU behind the blocking kernel: a shorter window, or another kind, is needed."""


class WorkloadRun:
    """One workload of a bench."""

    def __init__(self, bench, workload):
        self.bench, self.workload, self.options = bench, workload, bench.options
        self.notes = list(workload.notes)
        self.case = None
        self.late = {"windows": 0, "late": 0, "seen": 0}
        self.drained_ms = []
        self.refresh_s = 0.0
        self.refresh_every = True
        self.threads = set()
        self.kind = "pipelined"
        self.calls = None
        self.blocked_before = False
        self.quiet = {"before": None, "after": None}
        self.clock = clocks.Clock()
        self.graphs = {"ref": None, "student": None}
        self.pipelined_verdict = None
        self.block = {"comparison": None, "per_call": {"student": [], "ref": []}, "sealed": [], "fresh_ratio": None}

    # -- the case: kept from the first reading to the last where memory allows
    def open(self):
        """The workload made ready."""
        if self.case is not None and self.case.is_open:
            return
        bench = self.bench
        names = names_in_source(bench.student_target, bench.paths) if bench.isolated else \
            asked(bench.student.function)
        before = self.case
        self.case = build_case(self.workload, bench.session, bench.backend, bench.reference_function, bench.prep,
                               self.options, bench.boundary, names)
        if before is not None:
            self.case.carry_on(before)

    def _put_away(self):
        """Gives the memory back when others need it."""
        if len(self.bench.workloads) > 1 and self.bench.backend.scarce():
            self.case.close()

    def close(self):
        """Gives the memory back."""
        if self.case is not None:
            self.case.close()

    # -- the reference with nothing of the student on the machine
    def read_quiet(self, when):
        """Reads the reference before the student's code is in any process, and after all of it is gone."""
        bench = self.bench
        if not bench.isolated or (when == "after" and self.block["comparison"] is None):
            return
        self.open()
        if when == "before" and bench.reference.names is None:
            bench.reference.attach(self.case)
            bench.reference.load()
        else:
            bench.reference.attach(self.case)
        bench.reference.warm(min(6, self.case.sets), self.options["load_limit_s"])
        if self.calls is None:
            self.calls = self.case.sets
            self._time_refresh()
            self._shorten_until_pipelined()
        kinds = (self.kind,) if when == "after" else ("pipelined", "per_call")
        found = {}
        for kind in kinds:
            if kind == "pipelined" and self.kind != "pipelined":
                continue
            count = quiet.READINGS if kind == "pipelined" else 2
            readings = [self._one(bench.reference, kind=kind) for _ in range(count)]
            found[kind] = (evaljson.median([r.ms for r in readings]), evaljson.median([r.sm_mhz for r in readings]))
        self.quiet[when] = found
        self._put_away()

    def _hold_to_quiet(self):
        """The quiet block of the eval, or None; a slowed reference is a finding."""
        if self.block["comparison"] is None or not self.bench.isolated:
            return None
        comparison = self.block["comparison"][0]
        found = quiet.block(comparison, *((self.quiet[when] or {}).get(self.kind) for when in ("before", "after")))
        slowed = quiet.hold(comparison, found["difference"])
        if slowed:
            self.case.find("interference", slowed)
        return found

    # -- the comparison
    def run(self):
        """Measures; what the student broke becomes findings."""
        self.open()
        case = self.case
        try:
            if not case.findings:
                self._measure(self.block)
        except _Refused:
            pass
        except PlumblineError as error:
            if error.code in ("no-driver", "no-device", "inputs", "outputs", "input-type", "usage", "boundary"):
                raise
            case.find(error.code, str(error))
        if self.late["late"] * 2 > self.late["windows"] or self.late["seen"] * 2 > self.late["windows"]:
            case.find("late-work", "the device was still busy after the closing event in %d of %d of the student's "
                      "windows: work on another stream, or after the call"
                      % (max(self.late["late"], self.late["seen"]), self.late["windows"]))
        if self.bench.prep is not None:
            self.prep_block = self._prep_block()
        self._put_away()

    def result(self):
        """The result block of this workload, once everything is over."""
        case, parent, held = self.case, None, self._hold_to_quiet()
        if self.block["comparison"] is not None and self.bench.isolated:
            parent, forged = self.clock.judge()
            if forged:
                case.find("time-forged", forged)
            behind = self.clock.behind()
            if behind:
                case.find("late-work", behind)
        facts = evaljson.Workload(
            name=self.workload.name, campaign=bool(self.workload.campaign), shape=self.workload.shape, window=self.kind,
            findings=sorted(case.findings.values(), key=lambda f: f["code"]), notes=self.notes,
            comparison=self.block["comparison"], per_call=self.block["per_call"], sealed=self.block["sealed"],
            draws=self.workload.draws, fresh_ratio=self.block["fresh_ratio"], calls=self.calls, sets=case.sets,
            set_bytes=case.set_bytes,
            l2="hot" if not self.options["cold"] else "cold" if case.rotates_cold else
               "flushed before the window; the rotation is smaller than twice L2",
            refreshed=self._refreshed(), checked=case.checked, drained_ms=self.drained_ms,
            receives=case.receives,
            threads=max((t for t in self.threads if t), default=None), graphs=self.graphs, parent=parent, quiet=held,
            output_error=case.output_error or None, pipelined_verdict=self.pipelined_verdict,
            prep=getattr(self, "prep_block", None))
        return evaljson.workload_block(facts)

    def _refreshed(self):
        if self.workload.draws:
            return "judged draws"
        if not self.refresh_every:
            return "sealed windows"
        return "every window, after everything was enqueued" if self._seals and self.kind == "pipelined" else "every window"

    @property
    def _seals(self):
        """Do inputs get their contents only once all calls of a window are enqueued?"""
        return self.bench.isolated and self.bench.backend.asynchronous

    def _time_refresh(self):
        started = time.monotonic()
        self.case.refresh(judged=False)  # what is judged is in no process before the student is in its own
        self.refresh_s = time.monotonic() - started
        self.refresh_every = self.refresh_s <= _REFRESH_LIMIT_S
        if not self.refresh_every:
            self.notes.append("making the inputs anew takes %.2f s: done only in the sealed windows; in the others known "
                              "contents change places" % self.refresh_s)

    def _measure(self, block):
        bench = self.bench
        self._attach_and_aa_ready()
        if self.calls is None:
            self.calls = self.case.sets
            self._time_refresh()
            self._shorten_until_pipelined()
        if bench.overhead is None:
            bench.overhead = bench.reference.overhead()
        once_more = bench.isolated
        while block["comparison"] is None:
            self.clock.restart()
            del block["sealed"][:]
            try:
                block["comparison"] = bench.session.compare(
                    self._window, noise=self.options["noise"], time_limit_s=self.options["time_limit_s"],
                    min_rounds=self.options["rounds"])
            except _Blocked:
                self._give_way()
            # A host that was busy for a second looks like it too; work behind the mark is there the second time.
            if block["comparison"] is not None and once_more and (self.clock.behind() or self.clock.judge()[1]):
                block["comparison"], once_more, self._aa_remote = None, False, False
        self._per_call(block["per_call"])
        if self.workload.draws:
            self._on_fresh_contents(block)
        elif self._seals and self.kind == "pipelined" and not self.refresh_every:
            self._sealed(block["sealed"])
        self._facts()

    def _give_way(self):
        """After a blocked window of the student: once more (a module is loaded, memory grows on first use), then half the
        calls, at last per-call windows for both sides."""
        self._aa_remote = False  # the student's module is loaded by now
        if self.blocked_before:
            self.calls //= 2
        self.blocked_before = True
        if self.calls < 2:
            self._use_per_call("the student waits for the GPU in its call")
            self.pipelined_verdict = "unknown"

    def _use_per_call(self, why):
        self.kind, self.calls = "per_call", min(PER_CALL_COUNT, self.case.sets)
        self.notes.append(why + ": both sides are compared by per-call windows, host tax in; which is the faster on the GPU "
                          "alone is not known")

    def _attach_and_aa_ready(self):
        bench, case = self.bench, self.case
        bench.reference.attach(case)
        if bench.isolated:
            self._student_ready = False
            # The A/A run: the reference in the student's own process, before the student's module is loaded. It may
            # receive there what only the reference may see, so it is left out when there is such a tensor.
            self._aa_remote = not bench._loaded and case.one_boundary
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
        if bench.isolated:
            self.case.note_asked(bench.student.asked)
            if self.case.findings:
                raise _Refused
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

    def _window(self, side, phase, _number):
        bench = self.bench
        if side == 0:
            return self._one(bench.reference, key="ref" if phase == native.COMPARED else None,
                             judged=phase == native.COMPARED)
        if side == 2:
            return self._one(bench.student if self._aa_remote else bench.reference, judged=False)
        self._load_student()
        return self._one(bench.student, hold=True, key="student")

    def _one(self, target, kind=None, hold=False, key=None, judged=True, fresh=None):
        """A reading of `target` by the window kind in use; of per-call windows the median (each has contents that were not
        there in the one before). `key`: the side of which the parent's clock is kept."""
        case, kind = self.case, kind or self.kind
        fresh = self.refresh_every or bool(self.workload.draws) if fresh is None else fresh
        case.prepare(judged, fresh)
        calls = self.calls if kind == self.kind else min(PER_CALL_COUNT, case.sets)
        result = self._take(target, kind, calls)
        if hold:
            # Its holding kernel ran out: the calls saw inputs that were still to come, and nothing counts of it.
            if result.readings[0].flags & native.HOST_BLOCKED:
                raise _Blocked
            self._hold(result, 0, calls)
        if key:
            self.clock.add(key, result, calls if kind == "pipelined" else 1)
            if key == "student" and kind == "pipelined" and self._seals and fresh:
                self.block["sealed"].append(result.readings[0].ms)
        return result.readings[0] if kind == "pipelined" else evaljson.middle_reading(result.readings)

    def _take(self, target, kind, calls):
        """One window, or `calls` per-call ones, with the prepared contents."""
        case, cold = self.case, self.options["cold"]
        if kind == "pipelined" and not self._seals:
            case.deliver()
            return target.window(kind, calls, cold=cold)

        def deliver(only):
            case.deliver(only)
            if cold and only is None:
                self.bench.session.flush()  # what was just written is in no cache
        return target.window(kind, calls, cold=cold, deliver=deliver)

    def _hold(self, result, first, calls):
        for reading in result.readings:
            self.late["windows"] += 1
            self.drained_ms.append(reading.drained_ms)
            self.late["late"] += bool(reading.flags & native.LATE_WORK)
        self.late["seen"] += result.late
        if result.threads is not None:
            self.threads.add(result.threads)
        self.case.check(result, first, calls)
        if _CODES_STOP & set(self.case.findings) or (self.late["late"] >= 3 and
                                                     self.late["late"] * 2 > self.late["windows"]):
            raise _Refused

    def _per_call(self, block):
        count = min(PER_CALL_COUNT, self.case.sets)
        for _ in range(_PER_CALL_ROUNDS):
            for side in (0, 1, 1, 0):
                target = self.bench.student if side else self.bench.reference
                self.case.prepare(fresh=self.refresh_every or bool(self.workload.draws))
                result = self._take(target, "per_call", count)
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
                target = self.bench.student if side else self.bench.reference
                ms[side] += self._one(target, hold=side == 1, judged=False, fresh=True).ms
            logs.append(math.log(ms[0] / ms[1]))
        comparison = block["comparison"][0]
        block["fresh_ratio"] = math.exp(sum(logs) / len(logs))
        gain = comparison.ratio / block["fresh_ratio"] - 1
        if gain > max(_FRESH_MARGIN, 3 * comparison.smallest_difference):
            self.case.find("draws-remembered", "the student is %.0f %% faster, against the reference, on the judged input "
                           "sets than on fresh ones: it keeps results of inputs that it knows" % (100 * gain))

    def _sealed(self, sealed):
        """Where the other windows only rotate known contents: windows with contents that are new, beside the reference."""
        ratios = []
        for _ in range(_SEALED_WINDOWS):
            reference = self._one(self.bench.reference, fresh=True).ms
            student = self._one(self.bench.student, hold=True, fresh=True).ms
            sealed.append(student)
            ratios.append(reference / student)
        comparison = self.block["comparison"][0]
        gain = comparison.ratio / evaljson.median(ratios) - 1
        if gain > max(_FRESH_MARGIN, 3 * comparison.smallest_difference):
            self.case.find("contents-remembered", "the student is %.0f %% faster, against the reference, on contents that it "
                           "may have seen than in windows whose contents are new" % (100 * gain))

    def _facts(self):
        """What both processes say of themselves: precision, graphs, modes; and what they took to hand over outputs."""
        bench = self.bench
        late = bench.student.handed_late() if bench.isolated else 0
        if late:
            self.case.find("late-work", "handing over the outputs of a window took %.2f ms longer than copying them may: work "
                           "was done meanwhile" % late)
        for key, side in (("ref", bench.reference), ("student", bench.student)):
            facts = side.facts()
            self.graphs[key] = facts.get("graph_captured")
            bench.precision[key] = facts.get("precision")
            if key == "student" and bench.isolated:
                for text in facts.get("hooks", []):
                    self.case.find("mode-active", "%s is active in the student's process" % text)

    def _prep_block(self):
        call = self.case.prep_call()
        call()
        self.bench.session.drain()
        readings = self.bench.session.per_call([call], 0, 7, self.options["cold"])
        report = self.case.prep_report()
        report["ms"] = native.known(evaljson.median([r.ms for r in readings]))
        return report
