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

from ._native import PlumblineError
from .engine import Engine, load_function, reading_from_dict

WindowResult = collections.namedtuple("WindowResult", "readings problems outputs patched threads")


class LocalSide:
    """A callable timed in this process: no isolation."""

    isolated = False

    def __init__(self, session, backend, function):
        self.engine = Engine(session, backend)
        self.function = function
        self._specs = []

    def attach(self, case):
        """Takes the input sets of a workload."""
        self.engine.set_inputs(case.sets_for_reference if case.is_reference(self.function) else case.sets_for_student)
        self._specs = case.output_specs
        self.engine.set_function(self.function)

    def warm(self, calls, _limit_s):
        """Untimed calls."""
        self.engine.warm(calls)

    def overhead(self):
        """The harness's own cost here."""
        return self.engine.session.overhead()

    def window(self, kind, calls, first=0, cold=True, before_release=None, collect=True):
        """Readings, and the outputs of each call."""
        collect = collect and bool(self._specs)
        readings = self.engine.window(kind, calls, first, cold, before_release, self._specs if collect else ())
        problems, outputs = [], []
        if collect:
            for index in range(calls):
                found = self.engine.problems(index, self._specs)
                problems.extend(found)
                outputs.append(None if found else self.engine.outputs(index))
        self.engine.results = []
        return WindowResult(readings, problems, outputs, [], None)

    def close(self):
        """Nothing to end."""


class RemoteSide:
    """A "module:function" in a child process."""

    isolated = True

    def __init__(self, target, paths, directory, limit_s=120.0):
        self.target, self.paths, self.directory = target, paths, directory
        self.limit_s = limit_s
        self.guard = False
        self.names = None
        self._case = None
        self._start()

    def _start(self):
        parent_read, child_write = os.pipe()
        child_read, parent_write = os.pipe()
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        code = "import sys; sys.path[0] = %r; from plumbline.worker import main; main()" % package
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(child_read), str(child_write)], pass_fds=(child_read, child_write),
            stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)
        os.close(child_read)
        os.close(child_write)
        self._read_fd = parent_read
        self._out = os.fdopen(parent_write, "w", encoding="utf-8")
        self._buffer = b""
        self._ready = False

    def _answer(self, limit_s, doing):
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read_fd], [], [], left)[0]:
                self.kill()
                raise PlumblineError("time-limit", "%s: no answer within %g s while %s; the process was ended"
                                     % (self.target, limit_s, doing))
            data = os.read(self._read_fd, 1 << 16)
            if not data:
                status = self._process.wait()
                raise PlumblineError("worker-died", "%s: the process ended (status %d) while %s"
                                     % (self.target, status, doing))
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            self.kill()
            raise PlumblineError("worker-answer", "%s: the process wrote what is no answer while %s"
                                 % (self.target, doing)) from None
        if "error" in answer:
            raise PlumblineError(answer.get("code", "student-raised"), "%s: %s" % (self.target, answer["error"]))
        return answer

    def ask(self, message, limit_s, doing):
        """Sends a command and waits for its answer within `limit_s`."""
        if not self._ready:
            self._answer(self.limit_s, "starting")
            self._ready = True
        try:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()
        except OSError:
            raise PlumblineError("worker-died", "%s: the process is gone" % self.target) from None
        return self._answer(limit_s, doing)

    def attach(self, case):
        """Shares the input sets of a workload with the child."""
        self._case = case
        self.ask(case.attach_message(reference=self.sees_reference), self.limit_s, "attaching the inputs")

    sees_reference = False

    def load(self, target=None, guard=False):
        """Loads a function in the child (`target`: another one than the side's own)."""
        answer = self.ask({"do": "load", "target": target or self.target, "paths": self.paths,
                           "directory": self.directory, "guard": guard}, self.limit_s, "loading its module")
        self.names = answer["names"]
        return answer

    def warm(self, calls, limit_s):
        """Untimed calls."""
        return self.ask({"do": "warm", "calls": calls}, min(limit_s, self.limit_s), "warming up")

    def overhead(self):
        """The harness's own cost there."""
        return self.ask({"do": "overhead"}, self.limit_s, "measuring the harness")["overhead"]

    def window(self, kind, calls, first=0, cold=True, before_release=None, collect=True):
        """Readings, and the outputs of each call as the parent's memory holds them."""
        collect = collect and bool(self._case.output_specs)
        message = {"do": "window", "kind": kind, "calls": calls, "first": first, "cold": cold,
                   "sealed": before_release is not None, "collect": collect}
        answer = self.ask(message, self.limit_s, "in a window")
        if before_release is not None and answer.get("armed"):
            before_release()
            self._out.write("go\n")
            self._out.flush()
            answer = self._answer(self.limit_s, "in a window")
        readings = [reading_from_dict(r) for r in answer["readings"]]
        # The reference's outputs stay in its own process: the parent has made what it compares with itself.
        collected = collect and not answer["problems"] and not self.sees_reference
        outputs = self._case.outbox_views[:calls] if collected else []
        return WindowResult(readings, [tuple(p) for p in answer["problems"]], outputs, answer["patched"],
                            answer["threads"])

    def kill(self):
        """Ends the child and whatever it started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except OSError:
            pass
        self._process.wait()

    def close(self):
        """Lets the child go; it is ended when it does not go by itself."""
        try:
            self._out.write('{"do": "exit"}\n')
            self._out.flush()
        except (OSError, ValueError):
            pass
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        self.kill()
        for close in (self._out.close, lambda: os.close(self._read_fd)):
            try:
                close()
            except OSError:
                pass


def local_function(target, paths):
    """The callable that a side names: itself, or module:function loaded in this process."""
    return target if callable(target) else load_function(target, paths)
