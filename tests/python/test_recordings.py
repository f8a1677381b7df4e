# SPDX-License-Identifier: Apache-2.0
"""Launches of a card's script that share the start of Python."""
import json
import os
import subprocess
import sys
import textwrap
import time

import pytest


@pytest.fixture
def card(tmp_path):
    """Where the launch script of a card lies; it writes what it sees of itself."""
    (tmp_path / "card" / "eval").mkdir(parents=True)
    (tmp_path / "card" / "eval" / "bench.py").write_text("SEEN = []\n")
    (tmp_path / "card" / "kernel.py").write_text("import numpy\n")
    script = tmp_path / "card" / "eval" / "ncu_run.py"
    script.write_text(textwrap.dedent('''
        import atexit, json, os, signal, sys, time
        import numpy
        from bench import SEEN

        SEEN.append(1)
        out = os.environ["PLUMBLINE_RECORD_OUT"]
        said = {"argv": sys.argv, "pid": os.getpid(), "parent": os.getppid(), "seen": len(SEEN), "name": __name__,
                "library": os.environ["CUDA_INJECTION64_PATH"], "environment": os.environ.get("FROM_OUTSIDE")}
        atexit.register(lambda: json.dump(said, open(out + ".json", "w")))
        os.environ["LEFT_BEHIND"] = "1"
        if sys.argv[2:] == ["raises"]:
            raise ValueError("no such workload")
        if sys.argv[2:] == ["killed"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[2:] == ["slow"]:
            if os.fork() == 0:
                time.sleep(60)
            time.sleep(60)
    '''))
    return script


def launches(script, folder, *pairs, limit=30):
    """{number: (status, what the script wrote or None)}"""
    folder.mkdir()
    words = [word for pair in pairs for word in pair]
    done = subprocess.run([sys.executable, "-m", "plumbline.recordings", script, folder, "/no/recorder.so", str(limit), *words],
                          env=dict(os.environ, FROM_OUTSIDE="yes"), capture_output=True, text=True, check=False, timeout=60)
    found = {}
    for place in sorted(folder.iterdir()):
        wrote = place / "recording.json"
        found[int(place.name)] = ((place / "status").read_text(), json.loads(wrote.read_text()) if wrote.exists() else None)
    return done, found


def test_each_launch_is_a_process_of_its_own(card, tmp_path):
    done, found = launches(card, tmp_path / "out", ("student", "a"), ("student", "b"), ("reference", ""))
    assert done.returncode == 0, done.stderr
    assert [status for status, _ in found.values()] == ["0"] * 3
    said = [wrote for _, wrote in found.values()]
    assert [one["argv"][1:] for one in said] == [["student", "a"], ["student", "b"], ["reference"]]
    assert len({one["pid"] for one in said}) == 3 and len({one["parent"] for one in said}) == 1
    assert all(one["seen"] == 1 and one["name"] == "__main__" for one in said)  # nothing of one reaches the next
    assert all(one["library"] == "/no/recorder.so" and one["environment"] == "yes" for one in said)


@pytest.mark.parametrize("workload, status", [("raises", "1"), ("killed", "137")])
def test_after_a_failure_the_side_is_left_out(card, tmp_path, workload, status):
    done, found = launches(card, tmp_path / "out", ("student", workload), ("student", "b"), ("reference", "a"))
    assert found[0][0] == status and 1 not in found and found[2][0] == "0"
    assert done.returncode == 0
    assert ("no such workload" in done.stderr) == (workload == "raises")


def test_a_launch_has_a_limit(card, tmp_path):
    begun = time.monotonic()
    _, found = launches(card, tmp_path / "out", ("student", "slow"), ("reference", "a"), limit=4)
    assert found[0][0] == "limit" and found[1][0] == "0"
    assert time.monotonic() - begun < 20


def test_only_what_the_card_imports_is_imported_before(card):
    from plumbline.recordings import slow_imports
    assert slow_imports(str(card)) == ["numpy"]
    (card.parent.parent / "kernel.py").write_text("from torch.nn import functional\n    import triton.language as tl\n# import numpy\n")
    assert slow_imports(str(card)) == ["numpy", "torch", "triton"]
    (card.parent / "ncu_run.py").write_text("import numpyro\n")
    assert slow_imports(str(card)) == ["torch", "triton"]
