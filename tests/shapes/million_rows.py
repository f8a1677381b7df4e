#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A million rows of which one is bad: the row and the column are named, every other row is predicted, in order, and
the exit status is 2.

  tests/shapes/million_rows.py BINARY [ROWS]"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    binary = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    bad = rows * 5 // 7
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layers.csv"
        with open(path, "w", encoding="utf-8") as file:
            file.write("name,hidden_dim,num_heads,num_kv_heads,head_dim,ffn_dim\n")
            for i in range(1, rows + 1):
                file.write(f"r{i},{64 * (i % 100 + 1)},32,8,{'x' if i == bad else 128},14336\n")
        # Read while it is written: neither side holds the million.
        with open(pathlib.Path(folder) / "stderr", "w+", encoding="utf-8") as stderr, subprocess.Popen(
                [binary, "--json", "arch", "predict", "--hardware", "a100", "--model", "proxy", "--configs", path],
                stdout=subprocess.PIPE, stderr=stderr, text=True, encoding="utf-8") as tool:
            assert tool.stdout.readline() == "[\n"
            for i in (i for i in range(1, rows + 1) if i != bad):
                line = tool.stdout.readline()
                assert f'"name":"r{i}"' in line and f'"row":{i},' in line, (i, line)
            assert tool.stdout.read() == "]\n"
            status = tool.wait()
            stderr.seek(0)
            errors = stderr.read()
    assert status == 2, status
    assert errors.count("error:") == 1 and f"{path}:{bad + 1}:" in errors, errors
    assert f"row {bad}: head_dim is 'x'" in errors, errors
    print(f"{rows - 1} of {rows} rows predicted, row {bad} refused by name")
    return 0


if __name__ == "__main__":
    sys.exit(main())
