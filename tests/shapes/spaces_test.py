#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every space of spaces/ is searched; the answers are those of spaces/answers. spaces_test.py PLUMBLINE [--update] [SPACE…]

An answer belongs to the kernel times that it was found with, whose hash is its key: under other times the kept one is out of
date, and --update writes it anew.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    wrong = []
    wanted = [a for a in sys.argv[2:] if a not in ("", "--update")]
    for space in sorted((ROOT / "spaces").glob("*.toml")):
        if wanted and space.stem not in wanted:
            continue
        kept = ROOT / "spaces/answers" / f"{space.stem}.json"
        with tempfile.TemporaryDirectory() as folder:
            out, again = pathlib.Path(folder) / "a.json", pathlib.Path(folder) / "b.json"
            for path, threads in ((out, "2"), (again, "1"))[: 2 if space.stem == "moe_30b_a3b" else 1]:
                done = subprocess.run([sys.argv[1], "arch", "search", space, "--json-output", path, "--threads", threads],
                                      capture_output=True, text=True)
                assert done.returncode == 0, f"{space.name}: {done.returncode}\n{done.stderr}"
            assert not again.exists() or out.read_bytes() == again.read_bytes(), f"{space.name}: one and two threads differ"
            if "--update" in sys.argv:
                kept.write_bytes(out.read_bytes())
            elif not kept.exists() or json.loads(kept.read_text(encoding="utf-8"))["key"] != json.loads(
                    out.read_text(encoding="utf-8"))["key"]:
                wrong.append(f"{space.name} (the kept one is of another space, or of other kernel times)")
            elif kept.read_bytes() != out.read_bytes():
                wrong.append(space.name)
    assert not wrong, f"another answer than the kept one: {wrong}; --update rewrites them: read the difference"
    print("every space was searched")


if __name__ == "__main__":
    main()
