#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arch search --checkpoint where the disk becomes full during the search: full_disk.py PLUMBLINE

A limit on the size of files stands for the disk: the empty checkpoint before the search fits, those of later rounds do not.
The search has to go on to its answer, say so once and end with status 2; the checkpoint that was there stays whole.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

LIMIT = 2048
SPACE = """[dimensions]
hidden_dim = { from = 1024, to = 8192, step = 128 }
head_dim = [64, 128]
num_kv_heads = [1, 2, 4, 8]
group = [1, 2, 4, 8]
ffn_dim = { from = 2048, to = 24576, step = 64 }
num_layers = { from = 8, to = LAST }
[derived]
num_heads = "group * num_kv_heads"
[constraints]
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


def search(tool, *arguments, **how):
    return subprocess.run([tool, "--json", "arch", "search", *arguments, "--no-prune", "--threads", "1"], capture_output=True,
                          text=True, check=False, **how)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        space, checkpoint = folder / "s.toml", folder / "checkpoint.json"
        for last in (40, 200, 1000):  # a fast machine needs more shapes before a second has passed and a round is written
            space.write_text(SPACE.replace("LAST", str(last)), encoding="utf-8")
            # Python ignores SIGXFSZ, and the search inherits that: a write then fails as on a full disk.
            done = search(tool, space, "--checkpoint", checkpoint, preexec_fn=small_files, restore_signals=False)
            if done.returncode != 0:
                break
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert done.stderr.count("error: ") == 1 and str(checkpoint) in done.stderr, done.stderr
        kept = json.loads(checkpoint.read_text(encoding="utf-8"))
        assert kept["kind"] == "plumbline-search-checkpoint" and kept["next"] == 0, kept
        assert sorted(p.name for p in folder.iterdir()) == ["checkpoint.json", "s.toml"], "something else was left behind"
        resumed = search(tool, space, "--resume", checkpoint)
        assert resumed.returncode == 0 and resumed.stdout == done.stdout, "another answer, or none"
    print("a disk that becomes full: the answer, one error, status 2, and a checkpoint that is whole")


if __name__ == "__main__":
    main()
