# SPDX-License-Identifier: Apache-2.0
"""The two sides as the comparison sees them: in this process, or in a child that the parent watches."""

import collections
import json
import os
import select
import signal
import subprocess
import sys
import time

from . import _native as native
from . import integrity, phase, processes
from ._native import PlumblineError
from .engine import Engine, load_function
from .page import ANSWERED, GONE, READY, Page

# brackets: what the parent's clock saw of each window, ms, and behind: from its end until the device was idle; None where the
# window is in this process.
WindowResult = collections.namedtuple("WindowResult", "readings problems outputs patched threads brackets behind early late")

_PROBLEMS = {1: ("output-count", "a call returned %(value)d outputs, the reference %(count)d"),
             2: ("output-type", "%(what)s is not a plain tensor, or is not in a plain tuple, list or dict"),
             3: ("output-type", "%(what)s is not on the GPU"),
             4: ("output-dtype", "%(what)s is not %(dtype)s, as the reference's"),
             5: ("output-shape", "%(what)s has another shape than the reference's %(shape)s"),
             6: ("output-type", "%(what)s is a view that is not worked out yet (conjugate, negative or sparse)")}
# The parent's clock sees the device idle this much after the window at most, as a floor and a share (as the C library).
_LATE_FLOOR_MS, _LATE_SHARE = 0.25, 0.05
# What a window's outputs take to be handed over, beside what the harness takes for the same bytes.
_HANDING_MS, _HANDING_TIMES = 0.6, 4


class LocalSide:
    """A callable timed in this process: no isolation."""

    isolated = False

    def __init__(self, session, backend, function, word="reference"):
        self.word = word
        self.engine = Engine(session, backend)
        self.function = function
        self._specs = []

    def attach(self, case):
        """Takes the input sets of a workload."""
        self.engine.bind(self.function,
                         case.sets_for_reference if case.is_reference(self.function) else case.sets_for_student)
        self._specs = [] if case.workload.outputs else case.output_specs

    def warm(self, calls, _limit_s):
        """Untimed calls."""
        phase.say(self.word)
        self.engine.warm(calls)
        phase.say("harness")

    def overhead(self):
        """The harness's own cost here."""
        return self.engine.session.overhead()

    def facts(self):
        """As RemoteSide.facts()."""
        return dict(integrity.active(), precision=integrity.precision(), graph_captured=integrity.graph_captured())

    def window(self, kind, calls, first=0, cold=True, deliver=None, collect=True):
        """Readings, and the outputs of each call."""
        collect = collect and bool(self._specs)
        if deliver is not None:
            deliver(None)
        phase.say(self.word)
        readings = self.engine.window(kind, calls, first, cold, self._specs if collect else ())
        phase.say("harness")
        problems, outputs = [], []
        if collect:
            for index in range(calls):
                found = self.engine.problems(index, self._specs)
                problems.extend(found)
                outputs.append(None if found else self.engine.outputs(index))
        self.engine.results = []
        return WindowResult(readings, problems, outputs, [], None, None, None, 0, 0)

    def close(self):
        """Nothing to end."""


class RemoteSide:
    """A "module:function" in a child process, with a keeper between that ends all of it."""

    isolated = True
    sees_reference = False  # the reference's own process: it gets what only the reference may see, and no outbox

    def __init__(self, target, paths, directory, limit_s=120.0):
        self.target, self.paths, self.directory = target, paths, directory
        self.limit_s = limit_s
        self.names = None
        self.asked = None
        self.process = None  # the worker's number, once it has said so
        self._case = None
        self._handed = []  # of the module that is loaded now: the reference's, read here for A/A, hand over in time
        self._page = Page()
        processes.become_subreaper()  # should the keeper be ended, what it kept comes here
        self._start()
        _open_sides.append(self)

    def _start(self):
        parent_read, child_write = os.pipe()
        child_read, parent_write = os.pipe()
        life, self._life = os.pipe()  # the keeper sees the parent's end close
        self._alive, kept = os.pipe()  # and the parent the keeper's, which no process of the side has
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        files = [child_read, child_write, *self._page.files]
        start = "import sys; sys.path[0] = %r; from plumbline.%s import main; main()"
        side = [sys.executable, "-c", start % (package, "worker"), *map(str, files)]
        # A student has no business with where the eval goes.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PLUMBLINE_EVAL")}
        self._keeper = subprocess.Popen(
            [sys.executable, "-S", "-c", start % (package, "keeper"), "%d,%d" % (life, kept), ",".join(map(str, files)), json.dumps(side)],
            pass_fds=(life, kept, *files), stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True, env=environment)
        for file in (child_read, child_write, life, kept):
            os.close(file)
        self._read_fd, self._write_fd = parent_read, parent_write
        self._buffer = b""
        self._ready = False

    # -- the pipe: commands and answers that no reading depends on
    def _answer(self, limit_s, doing):
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            ready = select.select([self._read_fd, self._alive], [], [], left)[0] if left > 0 else []
            if not ready:
                self._out_of_time(limit_s, doing)
            if self._read_fd not in ready:
                self._gone(doing)
            data = os.read(self._read_fd, 1 << 16)
            if not data:
                self._gone(doing)
            self._buffer += data
            if len(self._buffer) > 1 << 24:
                self._no_answer(doing)
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
            if not isinstance(answer, dict):
                raise ValueError
        except ValueError:
            self._no_answer(doing)
        if "error" in answer:
            raise PlumblineError(str(answer.get("code", "student-raised")), "%s: %s" % (self.target, answer["error"]))
        return answer

    def _out_of_time(self, limit_s, doing):
        self.kill()
        raise PlumblineError("time-limit", "%s: no answer within %g s while %s; the process was ended"
                             % (self.target, limit_s, doing))

    def _gone(self, doing):
        try:
            status = self._keeper.wait(timeout=10)
        except subprocess.TimeoutExpired:
            status = -1
        raise PlumblineError("worker-died", "%s: the process ended (status %d) while %s" % (self.target, status, doing))

    def _no_answer(self, doing):
        self.kill()
        raise PlumblineError("worker-answer", "%s: the process wrote something other than an answer while %s" % (self.target, doing))

    def _tell(self, message):
        data = (json.dumps(message) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._write_fd, data):]
        except OSError:
            raise PlumblineError("worker-died", "%s: the process is gone" % self.target) from None

    def _begin(self):
        phase.say("reference" if self.sees_reference else "student")
        if not self._ready:
            self.process = self._answer(self.limit_s, "starting").get("process")
            self._ready = True
        self.thaw()

    def ask(self, message, limit_s, doing):
        """Sends a command and waits for its answer within `limit_s`."""
        self._begin()
        self._tell(message)
        answer = self._answer(limit_s, doing)
        self.freeze()
        return answer

    # -- the side's processes
    def freeze(self):
        """Stops everything that this side started, until it is its turn again."""
        phase.say("harness")
        if not self.sees_reference:
            processes.signal_descendants(self._keeper.pid, signal.SIGSTOP)

    def thaw(self):
        """Lets it go on."""
        if not self.sees_reference:
            processes.signal_descendants(self._keeper.pid, signal.SIGCONT)

    def attach(self, case):
        """Shares the input sets of a workload with the child."""
        self._case = case
        self.ask(case.attach_message(reference=self.sees_reference), self.limit_s, "attaching the inputs")

    def load(self, target=None, guard=False):
        """Loads a function in the child (`target`: another one than the side's own)."""
        answer = self.ask({"do": "load", "target": target or self.target, "paths": self.paths,
                           "directory": self.directory, "guard": guard}, self.limit_s, "loading its module")
        self.names, self.asked, self._handed = answer["names"], answer.get("asked"), []
        return answer

    def warm(self, calls, limit_s):
        """Untimed calls."""
        return self.ask({"do": "warm", "calls": calls}, min(limit_s, self.limit_s), "warming up")

    def overhead(self):
        """The harness's own cost there."""
        return self.ask({"do": "overhead"}, self.limit_s, "measuring the harness")["overhead"]

    def facts(self):
        """Precision switches, whether a graph was captured, modes and hooks."""
        return self.ask({"do": "facts"}, self.limit_s, "looking at its process")

    def window(self, kind, calls, first=0, cold=True, deliver=None, collect=True):
        """Readings, and the outputs of each call as the parent's memory holds them. `deliver` brings the inputs once
        everything is enqueued, and of per-call windows those of call i just before it: deliver(None), deliver(i)."""
        doing = "in a window"
        collect = collect and bool(self._case.output_specs)
        self._begin()
        self._page.order(kind, calls, first, cold, collect)
        self._tell({"do": "window", "calls": calls, "collect": collect})
        brackets, state = [], READY
        if kind == "pipelined":
            state = self._page.wait(self._alive, self.limit_s)
            if state == READY and deliver is not None:
                deliver(None)
        for index in range(1 if kind == "pipelined" else calls):
            if state != READY:
                break
            if kind != "pipelined" and deliver is not None:
                deliver(index)
            state, bracket = self._page.watch(index, self._alive, self.limit_s)
            brackets.append(bracket)
        self._check_state(state, doing)
        handed = time.monotonic()
        reported, readings, scripted = self._reported(doing)
        handed = 1e3 * (time.monotonic() - handed)
        if reported.status == 0:
            # Nothing of the student's Python has run since the window, nor does it before the harness has its own copy.
            handed = handed if scripted[0] == 0 else 0.0
            self._take(calls if collect else 0, handed)
        self._page.taken()
        answer = self._answer(self.limit_s, doing)  # an error of the call is raised here
        self.freeze()
        if reported.status != 0 or len(readings) != (1 if kind == "pipelined" else calls) or len(brackets) != len(readings):
            self._no_answer(doing)
        return self._result(answer, reported, readings, scripted, brackets, calls if collect else 0)

    def _reported(self, doing):
        """What the other process's library says of the window. Its time of the fake counts only where there is no GPU."""
        deadline = time.monotonic() + self.limit_s
        while True:
            state, reported, readings, scripted = self._page.answer(self._alive, 0.05)
            if state == READY:
                fake = self._case.backend.name == "scripted"
                return reported, readings, scripted if fake else [0.0] * len(readings)
            if state == GONE:
                self._gone(doing)
            if select.select([self._read_fd], [], [], 0)[0]:
                self._answer(self.limit_s, doing)  # what was raised before the window
                self._no_answer(doing)
            if time.monotonic() > deadline:
                self._out_of_time(self.limit_s, doing)

    def _take(self, calls, handed_ms):
        if self.sees_reference:  # its outputs stay in its own process: the parent has made what it compares with itself
            return
        took = self._case.take(calls)
        if calls:
            self._handed.append(handed_ms - _HANDING_TIMES * took)

    def handed_late(self):
        """How many milliseconds more than it should the handing over of outputs took, by the median; 0 when all is well."""
        late = sorted(self._handed)[len(self._handed) // 2] - _HANDING_MS if self._handed else 0.0
        return max(late, 0.0)

    def _check_state(self, state, doing):
        if state == 0:
            self._out_of_time(self.limit_s, doing)
        if state == GONE:
            self._gone(doing)
        assert state in (READY, ANSWERED)

    def _result(self, answer, reported, readings, scripted, brackets, collected):
        problems = [self._problem(reported.problem[i]) for i in range(min(max(reported.problems, 0), 16))]
        for text in integrity.raised(reported.guards, answer.get("modes")):
            problems.append(("mode-active", "%s was active in the student's process after a window" % text))
        whole = collected and not reported.problems and not self.sees_reference
        outputs = self._case.outbox_views[:collected] if whole else []
        if whole and reported.copied != collected * len(self._case.output_specs):
            self._no_answer("handing over its outputs")
        blocked = [bool(r.flags & native.HOST_BLOCKED) for r in readings]
        seen = [s or b.ms for s, b in zip(scripted, brackets)]
        early = sum(b.early and not h for b, h in zip(brackets, blocked))
        late = sum(not s and not h and b.drained_ms > _LATE_FLOOR_MS + _LATE_SHARE * b.ms
                   for s, b, h in zip(scripted, brackets, blocked))
        patched = [str(name) for name in answer.get("patched", [])]
        return WindowResult(readings, problems, outputs, patched, answer.get("threads"), seen,
                            [b.drained_ms for b in brackets], early, late)

    def _problem(self, problem):
        specs = self._case.output_specs
        code, text = _PROBLEMS.get(problem.code, _PROBLEMS[2])
        spec = specs[problem.output] if 0 <= problem.output < len(specs) else {"dtype": "?", "shape": "?"}
        what = "output %d" % problem.output if problem.output >= 0 else "what a call returned"
        return code, text % {"what": what, "value": problem.value, "count": len(specs), "dtype": spec["dtype"],
                             "shape": spec["shape"]}

    def kill(self):
        """Ends the child and whatever it started, however that detached."""
        phase.say("harness")
        lost = self._keeper.poll() is not None and self._life is not None
        processes.signal_descendants(self._keeper.pid, signal.SIGKILL)
        if lost:  # somebody ended the keeper: its orphans are this process's children now
            processes.signal_descendants(os.getpid(), signal.SIGKILL, _others(self))
        if self._life is not None:
            os.close(self._life)  # the keeper ends what may have come since, and itself
            self._life = None
        try:
            self._keeper.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def close(self):
        """Lets the child go; it is ended when it does not go by itself."""
        if self in _open_sides:
            _open_sides.remove(self)
        if self._page is None:
            return
        self.kill()
        for file in (self._read_fd, self._write_fd, self._alive):
            os.close(file)
        self._page.close()
        self._page = None


_open_sides = []


def _others(side):
    return [one._keeper.pid for one in _open_sides if one is not side]


def local_function(target, paths):
    """The callable that a side names: itself, or module:function loaded in this process."""
    return target if callable(target) else load_function(target, paths)
