# SPDX-License-Identifier: Apache-2.0
"""The child process of one side. Its clock, events, stream and inputs exist before the student's module is loaded; it
never sees the expected outputs. It answers the parent's commands, one JSON line each; a window and what is read of it
never pass through here: those the C library takes from the parent's memory and answers there."""

import ctypes
import json
import os
import sys

from . import _native as native
from . import backends, engine, integrity
from .page import output_specs


def _threads():
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None


class Worker:
    """Answers the parent's commands on two file descriptors."""

    def __init__(self, read_fd, write_fd, orders_file, answers_file):
        for file in (read_fd, write_fd):
            os.set_inheritable(file, False)
        self._read, self._write, self._pending = read_fd, write_fd, b""
        self._backend = backends.choose()
        self._session = self._backend.open_session()
        self._library = native.held_library
        self._server = ctypes.c_void_p()
        native.check(self._library.pl_serve_open(self._session._handle, orders_file, answers_file,
                                                 ctypes.byref(self._server)))
        probes, containers = self._backend.probes()
        native.check(self._library.pl_serve_library(self._server, probes, containers))
        native.check(self._library.pl_serve_guards(self._server, integrity.guards()))
        self._attached = {}
        self._addresses = []
        self._sets, self._callables, self._function, self._names = [], [], None, []
        self._output_specs, self._written = [], []
        self._guarded = None

    def _send(self, message):
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._write, data):]

    def _line(self):
        """The next command. The interpreter lock stays held meanwhile: threads of the student run in its calls only."""
        while b"\n" not in self._pending:
            self._library.pl_serve_wait(self._read)
            data = os.read(self._read, 1 << 20)
            if not data:
                return None
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def serve(self):
        """Until the parent says exit or goes away."""
        handlers = {"attach": self._attach, "load": self._load, "warm": self._warm, "window": self._window,
                    "overhead": self._overhead, "facts": self._facts}
        self._send({"ready": True, "process": os.getpid()})
        while True:
            command = self._line()
            if command is None or command["do"] == "exit":
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
        self._callables, self._sets = [], []
        native.check(self._library.pl_serve_calls(self._server, self._callables, None))
        while self._attached:
            self._session.detach(self._attached.popitem()[1])
        sets, places = [{} for _ in range(command["sets"])], [{} for _ in range(command["sets"])]
        tensors = {}
        for arena in command["arenas"]:
            base = self._address(arena["handle"])
            for index, one in enumerate(sets):
                start = base + index * arena["stride"]
                one.update(self._backend.build(start, arena["specs"]))
                places[index].update({n: start + s["offset"] for n, s in arena["specs"].items() if s["kind"] == "tensor"})
            tensors.update({n: s for n, s in arena["specs"].items() if s["kind"] == "tensor"})
        receives = command["receives"]
        self._sets = [{n: v for n, v in one.items() if receives is None or n in receives} for one in sets]
        outbox = command["outbox"]
        self._output_specs = outbox["specs"]
        specs = output_specs(self._output_specs, self._backend.dtype_word,
                             [tensors[name]["strides"] for name in command["written"]])
        handle = bytes.fromhex(outbox["handle"]) if outbox["handle"] else None
        native.check(self._library.pl_serve_outputs(self._server, handle, outbox["slots"], outbox["stride"], specs,
                                                    len(self._output_specs)))
        self._written = [place[name] for place in places for name in command["written"]]
        self._bind()
        return {"ok": True}

    def _bind(self):
        self._names, self._callables = engine.bind(self._function, self._sets)
        written = (ctypes.c_uint64 * len(self._written))(*self._written) if self._written else None
        native.check(self._library.pl_serve_calls(self._server, self._callables, written))

    def _load(self, command):
        if command.get("guard"):
            self._guarded = integrity.snapshot()
        os.chdir(command["directory"])
        self._function = engine.load_function(command["target"], command["paths"])
        self._bind()
        return {"names": self._names, "asked": engine.asked(self._function), "threads": _threads()}

    def _warm(self, command):
        for index in range(command["calls"]):
            self._callables[index % len(self._callables)]()
        self._session.drain()
        return {"threads": _threads()}

    def _overhead(self, _command):
        return {"overhead": self._session.overhead()}

    def _facts(self, _command):
        return dict(integrity.active(), precision=integrity.precision(), graph_captured=integrity.graph_captured())

    def _window(self, command):
        if command["collect"] and not self._written:
            self._backend.poison([spec for _ in range(command["calls"]) for spec in self._output_specs])
            self._session.drain()
        self._library.pl_serve_window(self._server)  # raises what the call raised
        return {"patched": integrity.changed(self._guarded) if self._guarded else [], "threads": _threads(),
                "modes": integrity.function_modes()}


def main():
    """Entry point: the four descriptors are the last arguments."""
    os.dup2(2, 1)  # what a student prints must not mix with the bench's own output
    Worker(*map(int, sys.argv[-4:])).serve()
    os._exit(0)  # a student's threads and exit hooks do not hold the parent up
