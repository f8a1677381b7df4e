#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arch search on 1, 2 and 4 processes gives the same bytes; a killed process, Ctrl-C. ranks_test.py PLUMBLINE [WITH_MPI]

Needs OpenMPI's mpirun and a tool that was built with it: WITH_MPI, or PLUMBLINE itself. A tool without MPI has to refuse to
be one of several processes.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "btl_vader_single_copy_mechanism", "none"]
# Wide enough that a search without pruning is still at work when it is disturbed.
LONG = """[dimensions]
hidden_dim = { from = 1024, to = 8192, step = 128 }
head_dim = [64, 128]
num_kv_heads = [1, 2, 4, 8]
group = [1, 2, 4, 8]
ffn_dim = { from = 2048, to = 24576, step = 64 }
num_layers = { from = 8, to = 64 }
[derived]
num_heads = "group * num_kv_heads"
[constraints]
deep = "hidden_dim <= 128 * num_layers"
[[point]]
name = "prefill"
phase = "prefill"
[[hardware]]
name = "h100"
model = "proxy"
[objective]
minimise = "prefill_ms / parameters"
front = ["prefill_ms", { maximise = "parameters" }]
top = 20
"""
# Small, and with losses that are not exact: two more searches follow.
UNCERTAIN = LONG.replace("step = 128", "step = 1024").replace("step = 64", "step = 1024").replace(
    'front = ["prefill_ms", { maximise = "parameters" }]', 'front = ["prefill_ms", "loss"]') + """[quality]
law = "besiroglu2024"
tokens = 2e11
scatter = 0.01
"""


def children(pid):
    """Process ids below `pid`, in the order of their start."""
    out = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1]) == pid:
                out.append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    return sorted(out)


def same_bytes(tool, space, folder):
    told = []
    for count, threads in ((1, 1), (2, 2), (4, 1)):
        out = [folder / f"{count}.{kind}.json" for kind in ("answer", "certificate")]
        done = subprocess.run([*MPIRUN, "-n", str(count), tool, "arch", "search", space, "--threads", str(threads),
                               "--json-output", out[0], "--certificate", out[1]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told.append((done.stdout, *(path.read_bytes() for path in out)))
    assert told[0] == told[1] == told[2], "the number of processes changes the answer"
    return json.loads(told[0][1])


def disturbed(tool, space, folder, how):
    """Two processes, disturbed after their first round: the checkpoint that is left, and what was said."""
    checkpoint = folder / f"{how}.json"
    running = subprocess.Popen([*MPIRUN, "-n", "2", tool, "arch", "search", space, "--no-prune", "--threads", "1", "--checkpoint",
                                checkpoint], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.01)
    ranks = children(running.pid)
    assert len(ranks) == 2 and running.poll() is None, "the search ended before it could be disturbed"
    if how == "interrupted":
        running.send_signal(signal.SIGINT)
    else:
        os.kill(ranks[0 if how == "first killed" else 1], signal.SIGKILL)
    out, wrong = running.communicate(timeout=300)
    if checkpoint.exists() and "prefill_ms" in out and how == "interrupted":
        return checkpoint, "[search-interrupted] --resume"  # it was at its last row, and whole before the signal came
    assert running.returncode != 0 and out == "", (how, running.returncode, out, wrong)
    return checkpoint, wrong


def main():
    tools = [word for word in sys.argv[1:] if word]  # a build without MPI gives an empty second one
    plain, tool = tools[0], tools[-1]
    as_one_of_two = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}
    if plain != tool or shutil.which("mpirun") is None:
        done = subprocess.run([plain, "arch", "search", ROOT / "spaces/moe_30b_a3b.toml"], capture_output=True, text=True,
                              env=as_one_of_two, check=False)
        assert done.returncode == 2 and "[search-no-mpi]" in done.stderr and done.stdout == "", done
        if plain == tool:
            print("skipped: no mpirun; a tool without MPI refuses to be one of several processes")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        space = folder / "long.toml"
        done = subprocess.run([*MPIRUN, "-n", "2", tool, "arch", "search", folder / "absent.toml"], capture_output=True, text=True,
                              check=False)
        if "[search-no-mpi]" in done.stderr:
            print("skipped: built without MPI; several processes are refused")
            sys.exit(77)
        assert done.returncode == 2 and done.stderr.count("error: ") == 1, done.stderr
        search = ["-n", "1", tool, "arch", "search"]
        done = subprocess.run([*MPIRUN, *search, ROOT / "spaces/moe_30b_a3b.toml", ":", *search, ROOT / "spaces/noeris.toml"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "[search-ranks-differ]" in done.stderr and done.stdout == "", done.stderr
        same_bytes(tool, ROOT / "spaces/moe_30b_a3b.toml", folder)
        space.write_text(UNCERTAIN, encoding="utf-8")
        assert same_bytes(tool, space, folder)["undominated_90"]["uncertain_only"] > 1000
        space.write_text(LONG, encoding="utf-8")
        whole = folder / "whole.json"
        subprocess.run([plain, "arch", "search", space, "--no-prune", "--json-output", whole], check=True, capture_output=True)
        # A process that cannot answer Ctrl-C in time, on a busy machine, is one that is lost.
        told = {"second killed": ["[search-rank-lost]"], "first killed": ["signal 9"],
                "interrupted": ["[search-interrupted]", "[search-rank-lost]"]}
        for how, says in told.items():
            for _ in range(4):  # mpirun kills a second after its signal: on a busy machine the first process may not get to say it
                (folder / f"{how}.json").unlink(missing_ok=True)
                checkpoint, wrong = disturbed(tool, space, folder, how)
                if any(s in wrong for s in says):
                    break
            assert any(s in wrong for s in says) and ("--resume" in wrong or how == "first killed"), (how, wrong)
            resumed = folder / "resumed.json"
            subprocess.run([plain, "arch", "search", space, "--no-prune", "--resume", checkpoint, "--json-output", resumed], check=True,
                           capture_output=True)
            assert whole.read_bytes() == resumed.read_bytes(), f"{how}: another answer after --resume"
    print("1, 2 and 4 processes give the same bytes; a killed process and Ctrl-C leave a checkpoint that goes on to them")


if __name__ == "__main__":
    main()
