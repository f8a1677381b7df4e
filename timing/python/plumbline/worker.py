# SPDX-License-Identifier: Apache-2.0
"""The child process of one side. Its clock, events, stream and inputs exist before the student's module is loaded; it
never sees the expected outputs. It answers the parent's commands, one JSON line each."""

import json
import os
import sys

from . import backends, integrity
from .engine import Engine, load_function, reading_to_dict


def _threads():
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None


class Worker:
    """Answers the parent's commands on two file descriptors."""

    def __init__(self, read_fd, write_fd):
        self._in = os.fdopen(read_fd, "r", encoding="utf-8")
        self._out = os.fdopen(write_fd, "w", encoding="utf-8")
        self._backend = backends.choose()
        self._session = self._backend.open_session()
        self._engine = Engine(self._session, self._backend)
        self._attached = {}
        self._output_specs = []
        self._slots = []
        self._guarded = None
        # Bound before any student is loaded.
        self._dumps, self._loads, self._to_dict = json.dumps, json.loads, reading_to_dict
        self._changed = integrity.changed
        self._run, self._problems, self._outputs = self._engine.window, self._engine.problems, self._engine.outputs
        self._copy_into, self._drain = self._backend.copy_into, self._session.drain

    def _send(self, message):
        self._out.write(self._dumps(message) + "\n")
        self._out.flush()

    def serve(self):
        """Until the parent says exit or goes away."""
        handlers = {"attach": self._attach, "load": self._load, "warm": self._warm, "window": self._window,
                    "overhead": self._overhead}
        self._send({"ready": True})
        for line in self._in:
            command = self._loads(line)
            if command["do"] == "exit":
                break
            try:
                self._send(handlers[command["do"]](command))
            except BaseException as error:  # noqa: B902 - whatever the student raises goes to the parent
                self._send({"error": "%s: %s" % (type(error).__name__, error),
                            "code": getattr(error, "code", "student-raised")})
                if isinstance(error, SystemExit):
                    break

    def _address(self, handle):
        if handle not in self._attached:
            self._attached[handle] = self._session.attach(handle)
        return self._attached[handle]

    def _attach(self, command):
        # What the last workload shared is gone in the parent; a handle may come again for other memory.
        self._engine.set_inputs([])
        self._slots = []
        while self._attached:
            self._session.detach(self._attached.popitem()[1])
        sets = [{} for _ in range(command["sets"])]
        for arena in command["arenas"]:
            base = self._address(arena["handle"])
            for index, one in enumerate(sets):
                one.update(self._backend.build(base + index * arena["stride"], arena["specs"]))
        self._engine.set_inputs(sets)
        outbox = command["outbox"]
        self._output_specs = outbox["specs"]
        if outbox["handle"]:
            base = self._address(outbox["handle"])
            self._slots = [[self._backend.view(base + i * outbox["stride"] + spec["offset"], spec)
                            for spec in self._output_specs] for i in range(outbox["slots"])]
        return {"ok": True}

    def _load(self, command):
        if command.get("guard"):
            self._guarded = integrity.snapshot()
        os.chdir(command["directory"])
        names = self._engine.set_function(load_function(command["target"], command["paths"]))
        return {"names": names, "threads": _threads()}

    def _warm(self, command):
        self._engine.warm(command["calls"])
        return {"threads": _threads()}

    def _overhead(self, _command):
        return {"overhead": self._session.overhead()}

    def _gate(self):
        self._send({"armed": True})
        self._in.readline()

    def _window(self, command):
        collect = command["collect"]
        readings = self._run(command["kind"], command["calls"], command["first"], command["cold"],
                             self._gate if command["sealed"] else None, self._output_specs if collect else ())
        problems = []
        if collect:
            for index in range(command["calls"]):
                found = self._problems(index, self._output_specs)
                problems.extend(found)
                if not found and self._slots:
                    for target, value in zip(self._slots[index], self._outputs(index)):
                        self._copy_into(target, value)
            self._drain()
        self._engine.results = []
        return {"readings": [self._to_dict(r) for r in readings], "problems": problems[:8],
                "patched": self._changed(self._guarded) if self._guarded else [], "threads": _threads()}


def main():
    """Entry point: the two descriptors are the last arguments."""
    read_fd, write_fd = int(sys.argv[-2]), int(sys.argv[-1])
    os.dup2(2, 1)  # what a student prints must not mix with the bench's own output
    Worker(read_fd, write_fd).serve()
    os._exit(0)  # a student's threads and exit hooks do not hold the parent up
