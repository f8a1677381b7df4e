# SPDX-License-Identifier: Apache-2.0
"""A card's launch script, recorded once for each side and workload: what `plumbline run` starts.

    python -m plumbline.recordings SCRIPT FOLDER LIBRARY LIMIT_S SIDE WORKLOAD [SIDE WORKLOAD ...]

Most of one short recording is the start of PyTorch. Here the slow modules that the card imports are imported once, and each launch is a
process forked from this one, with a CUDA context and a recorder of its own: nothing here touches the GPU. LIBRARY is the recorder,
LIMIT_S the seconds that one launch may take, WORKLOAD may be empty. FOLDER/N/recording.* is what the recorder wrote of the Nth
launch, FOLDER/N/status how it ended: an exit status, or "limit". After a launch that failed the same side's others are left out."""

import importlib
import os
import re
import runpy
import signal
import sys
import time
import warnings

SLOW = ("numpy", "torch", "triton")
_WAIT_S = 0.005


def slow_imports(script):
    """Those of SLOW that a file of the card imports: of the launch script's folder and the one above it."""
    found, here = set(), os.path.dirname(os.path.abspath(script))
    for folder in (here, os.path.dirname(here)):
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".py"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
                found.update(re.findall(r"^\s*(?:import|from)\s+(%s)\b" % "|".join(SLOW), stream.read(), re.M))
    return [name for name in SLOW if name in found]


def ended(process, limit_s):
    """How a launch ended, in a word for the status file; what it left in its process group is ended with it."""
    until = time.monotonic() + limit_s
    done, status = 0, 0
    while not done and time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if not done:
            time.sleep(_WAIT_S)
    try:
        os.killpg(process, signal.SIGKILL)
    except OSError:
        pass  # nobody is left
    if not done:
        os.waitpid(process, 0)
        return "limit"
    return str(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def launch(script, out, library, words):
    """The script as its own process would run it; returns into the interpreter's ordinary end."""
    os.environ.update(CUDA_INJECTION64_PATH=library, NVTX_INJECTION64_PATH=library, PLUMBLINE_RECORD_OUT=out,
                      PLUMBLINE_RECORD_RANGE="", PLUMBLINE_RECORD_LAUNCHES="")
    sys.argv[:] = [script, *words]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


def main(script, folder, library, limit_s, *pairs):
    for name in slow_imports(script):
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - the launch that needs it says so
            pass
    failed = set()
    for number, (side, workload) in enumerate(zip(pairs[::2], pairs[1::2])):
        if side in failed:
            continue
        mine = os.path.join(folder, str(number))
        os.mkdir(mine)
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the threads that NumPy's library holds are prepared for a fork
            process = os.fork()
        if process == 0:
            os.setpgid(0, 0)
            return launch(script, os.path.join(mine, "recording"), library, [side, workload] if workload else [side])
        try:
            os.setpgid(process, process)
        except OSError:
            pass  # it was quicker
        status = ended(process, float(limit_s))
        with open(os.path.join(mine, "status"), "w", encoding="utf-8") as stream:
            stream.write(status)
        if status != "0":
            failed.add(side)
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
