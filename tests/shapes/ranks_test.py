#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arch search on 1, 2 and 4 processes gives the same bytes; a killed process loses no finished slab. ranks_test.py PLUMBLINE

Needs a build with -DPLUMBLINE_MPI=ON and OpenMPI's mpirun; without MPI the build refuses to be one of several processes.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]


def children(pid):
    """Process ids below `pid`."""
    out = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1]) == pid:
                out.append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    return out


def killed(plumbline, space, folder):
    """Kills one of two processes in the middle; the checkpoint that is left goes on to the whole answer."""
    checkpoint = folder / "c.json"
    search = [plumbline, "arch", "search", space, "--no-prune", "--threads", "1"]
    running = subprocess.Popen([*MPIRUN, "-n", "2", *search, "--checkpoint", checkpoint], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.01)
    ranks = children(running.pid)
    if running.poll() is None and ranks:
        os.kill(ranks[-1], signal.SIGKILL)
    _, wrong = running.communicate()
    if running.returncode == 0:
        return "the search ended before it could be killed"
    assert "signal 9" in wrong or "Killed" in wrong, wrong
    for name, more in (("whole", []), ("resumed", ["--resume", checkpoint])):
        subprocess.run([*search, *more, "--json-output", folder / f"{name}.json"], check=True, capture_output=True)
    assert (folder / "whole.json").read_bytes() == (folder / "resumed.json").read_bytes()
    return "a process was killed, and the checkpoint gave the whole answer"


def main():
    plumbline, space = sys.argv[1], ROOT / "spaces/llama3_8b.toml"
    if shutil.which("mpirun") is None:
        print("skipped: no mpirun")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        told = []
        for count in (1, 2, 4):
            out = [folder / f"{count}.{kind}.json" for kind in ("answer", "certificate")]
            done = subprocess.run([*MPIRUN, "-n", str(count), plumbline, "arch", "search", space, "--threads", "1",
                                   "--json-output", out[0], "--certificate", out[1]], capture_output=True, text=True)
            if count == 2 and "search-no-mpi" in done.stderr:
                print("skipped: built without MPI; several processes are refused")
                sys.exit(77)
            assert done.returncode == 0, done.stderr
            told.append((done.stdout, *(path.read_bytes() for path in out)))
        assert told[0] == told[1] == told[2], "the number of processes changes the answer"
        print("1, 2 and 4 processes give the same bytes;", killed(plumbline, space, folder))


if __name__ == "__main__":
    main()
