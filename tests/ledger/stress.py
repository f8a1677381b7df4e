#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a ledger must survive: many writers at once, kill -9 at any moment, a full disk, a read-only file.

    stress.py PLUMBLINE [--processes 8] [--runs 1000] [--kills 200] [--postgres] [--quick]

--postgres runs the same on a PostgreSQL server that is started for it and thrown away. --quick is the slice that ctest runs.
Exit status 77: PostgreSQL was asked for and is not installed."""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def record(number, card="scan"):
    """One run as a line of an export."""
    return {"ident": "%012x%020x" % (1764000000000 + number, number), "card": card, "made_at": "2026-12-03T01:02:03Z", "name": "",
            "outcome": "fail-gate", "note": "", "corrects": "", "gate": 1.0, "raw_ratio": 0.7 + number % 97 * 1e-3,
            "student_ms": 0.4, "ref_ms": 0.3, "code": {}, "parts": {},
            "series": {"gpu": "NVIDIA H200", "driver": "580", "window": "pipelined", "harness": "plumbline 0.1.0", "boundary": "b"},
            "readings": [{"workload": name, "shape": "", "student_ms": 0.4, "ref_ms": 0.3, "ratio": 0.75, "noise": 0.001}
                         for name in ("wide", "tall", "even")]}


def lines(first, count):
    return "".join(json.dumps({"run": record(first + i)}) + "\n" for i in range(count))


class Tool:
    """The binary and the ledger that it is pointed at."""

    def __init__(self, binary, ledger):
        self.binary, self.ledger = binary, ledger

    def run(self, *words, stdin="", **more):
        return subprocess.run([self.binary, "ledger", *words, "--ledger", self.ledger], input=stdin, capture_output=True,
                              text=True, check=False, timeout=3600, **more)

    def verified(self, expect):
        done = self.run("verify", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["runs"] == expect, (json.loads(done.stdout), expect)


def many_writers(tool, processes, runs):
    started = time.monotonic()
    feeds, writers = [tempfile.TemporaryFile("w+") for _ in range(processes)], []
    for index, feed in enumerate(feeds):
        feed.write(lines(index * runs, runs))
        feed.seek(0)
        writers.append(subprocess.Popen([tool.binary, "ledger", "import", "-", "--each", "--ledger", tool.ledger], stdin=feed,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    seen = []
    for writer in writers:
        out, said = writer.communicate(timeout=600)
        assert writer.returncode == 0, said
        seen += out.split()
    took = time.monotonic() - started
    assert len(seen) == len(set(seen)) == processes * runs, (len(seen), len(set(seen)))
    tool.verified(processes * runs)
    print("%d processes, %d runs each: all there, none twice, none torn (%.0f a second)"
          % (processes, runs, processes * runs / took))
    return processes * runs


def killed(tool, kills, there):
    """kill -9 at random points: every acknowledged run is there, and at most one more."""
    chance = random.Random(16)
    number = 10_000_000
    for _ in range(kills):
        with tempfile.TemporaryFile("w+") as feed:
            feed.write(lines(number, 400))
            feed.seek(0)
            writer = subprocess.Popen([tool.binary, "ledger", "import", "-", "--each", "--ledger", tool.ledger], stdin=feed,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            time.sleep(chance.uniform(0, 0.12))
            writer.send_signal(signal.SIGKILL)
            acknowledged = writer.communicate()[0]
        whole = acknowledged[:acknowledged.rfind("\n") + 1].split()
        done = tool.run("list", "--json", "--last", "500")
        assert done.returncode == 0, done.stderr
        have = {str(run["run"]) for run in json.loads(done.stdout)["runs"]}
        assert set(whole) <= have, "an acknowledged run is gone"
        # The same lines once more: what was there already was acknowledged, but for one at most.
        done = tool.run("import", "-", "--json", stdin=lines(number, 400))
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert said["already"] in (len(whole), len(whole) + 1) and said["added"] + said["already"] == 400, (said, len(whole))
        number, there = number + 400, there + 400
    tool.verified(there)
    print("%d times kill -9: every acknowledged run is there, verify is clean" % kills)
    return there


def full_disk(binary):
    """A file system of 1 MiB."""
    if os.geteuid() != 0:
        return print("full disk: left out, needs root to mount a small file system")
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], check=False, capture_output=True).returncode:
            return print("full disk: left out, mounting is not permitted here")
        try:
            tool = Tool(binary, os.path.join(folder, "l.db"))
            assert tool.run("import", "-", stdin=lines(0, 50)).returncode == 0
            done = tool.run("import", "-", "--each", stdin=lines(50, 20_000))
            there = 50 + len(done.stdout.split())
            assert done.returncode == 2 and "ledger-unwritable" in done.stderr, (done.returncode, done.stderr)
            tool.verified(there)
            print("full disk: %s; %d runs acknowledged, %d there" % (done.stderr.strip().split(": ", 2)[-1], there, there))
        finally:
            subprocess.run(["umount", folder], check=False)


def read_only(binary):
    """A file and a folder that may not be written."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tool = Tool(binary, os.path.join(folder, "l.db"))
        assert tool.run("import", "-", stdin=lines(0, 5)).returncode == 0
        os.chmod(tool.ledger, 0o444)
        os.chmod(folder, 0o555)
        drop = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        try:
            done = tool.run("import", "-", stdin=lines(5, 1), **drop)
            assert done.returncode == 2 and "ledger-unwritable" in done.stderr, (done.returncode, done.stderr)
            done = tool.run("list", "--json", **drop)
            assert done.returncode == 0 and len(json.loads(done.stdout)["runs"]) == 5, done.stderr
        finally:
            os.chmod(folder, 0o755)
        print("read-only: a write is refused, a read is answered")


class Server:
    """A PostgreSQL server in a folder of its own, gone with it."""

    def __init__(self):
        binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not binaries:
            print("PostgreSQL is not installed (apt-get install postgresql)")
            sys.exit(77)
        self.bin = binaries[-1].parent
        self.folder = tempfile.mkdtemp(prefix="plumbline-pg-")
        self.drop = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.drop:
            os.chown(self.folder, 65534, 65534)
        self.url = "postgresql://plumbline@/postgres?host=%s" % self.folder
        self.call("initdb", "-D", self.folder + "/data", "-U", "plumbline", "-A", "trust", "--no-sync")
        self.call("pg_ctl", "-D", self.folder + "/data", "-w", "-l", self.folder + "/log", "-o",
                  "-k %s -c listen_addresses=''" % self.folder, "start")

    def call(self, name, *words):
        subprocess.run([str(self.bin / name), *words], check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **self.drop)

    def stop(self):
        self.call("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.processes, options.runs, options.kills = 4, 40, 6
    binary = os.path.abspath(options.plumbline)
    if options.postgres:
        server = Server()
        try:
            tool = Tool(binary, server.url)
            killed(tool, options.kills, many_writers(tool, options.processes, options.runs))
        finally:
            server.stop()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(binary, os.path.join(folder, "l.db"))
        killed(tool, options.kills, many_writers(tool, options.processes, options.runs))
    full_disk(binary)
    read_only(binary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
