#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arch serve against public rows of models served end to end, where they lie beside the tree: every n-th of them, medians held
to their bars. The rows are not ours to ship: without them the test is skipped."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ROOT.parent / "shared/measured/public/whole_models.csv.gz"


def main():
    if not ROWS.is_file():
        print(f"{ROWS} is not there")
        return 77
    return subprocess.run([sys.executable, str(ROOT / "tools/validate_serve.py"), "--plumbline", sys.argv[1], "--rows", str(ROWS),
                           "--every", sys.argv[2], "--check"]).returncode


if __name__ == "__main__":
    sys.exit(main())
