#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured rows by way of a ledger: GEMMs banked as a card's readings, and out again with `ledger export --rows`: the same shapes and times.
With --fit also what `hardware calibrate` makes of them: the same as of the rows that they were, to the last constant (a minute).

    rows_test.py PLUMBLINE [--fit]
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROWS = pathlib.Path(__file__).resolve().parent.parent / "golden/hardware_measured/gemm.csv"
A_RUN = 60  # workloads


def run(number, rows):
    readings = [{"workload": "w%d" % i, "shape": json.dumps({key: int(row[key]) for key in "mnk"}),
                 "student_ms": 2 * float(row["ms"]), "ref_ms": float(row["ms"]), "ratio": 0.5, "noise": 0.001} for i, row in enumerate(rows)]
    return {"run": {"ident": "%032x" % number, "card": "gemms", "made_at": "2026-01-01T00:00:00Z", "name": "", "outcome": "fail-gate",
                    "note": "", "corrects": "", "gate": 1.0, "raw_ratio": 0.5, "student_ms": 1.0, "ref_ms": 1.0, "code": {}, "parts": {},
                    "readings": readings, "series": {"gpu": "NVIDIA H200", "driver": "580", "window": "pipelined", "harness": "plumbline",
                                                     "boundary": "b"}}}


def tool(binary, *words):
    done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fitted(binary, rows, folder):
    """What calibrate makes of the rows, without the names and hashes of the files."""
    folder.mkdir()
    tool(binary, "hardware", "calibrate", rows, "--name", "h200", "--source", "some", "-o", folder / "some.toml")
    text = (folder / "some.toml").read_text()
    return re.sub(r'(?m)^.*(sha256|\.csv).*$', "", text), (folder / "some-some.bin").read_bytes()


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    with open(ROWS, encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs = [run(number, rows[at:at + A_RUN]) for number, at in enumerate(range(0, len(rows), A_RUN))]
        (folder / "runs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in runs))
        tool(binary, "ledger", "import", folder / "runs.jsonl", "--ledger", folder / "l.db")
        said = json.loads(tool(binary, "ledger", "export", "--rows", folder / "rows", "--ledger", folder / "l.db", "--json"))
        assert said["readings"] == len(rows) and said["without_shape"] == 0, said
        with open(folder / "rows" / "gemm.csv", encoding="utf-8") as stream:
            out = list(csv.DictReader(stream))
        assert all(row["run"] and row["gpu"] == "NVIDIA H200" and row["side"] == "reference" for row in out)
        shapes = {tuple(row[key] for key in "mnk") for row in rows}
        assert {tuple(row[key] for key in "mnk") for row in out} == shapes and len(out) == said["rows"] == len(shapes)
        times = {tuple(row[key] for key in "mnk"): float(row["ms"]) for row in rows}
        for row in out:
            assert float(row["ms"]) == times[tuple(row[key] for key in "mnk")] == float(row["ms_min"]) == float(row["ms_max"]), row
        if "--fit" not in sys.argv:
            return print("%d rows went through a ledger" % len(rows))
        # The same order as the rows had, so that what is fitted can be compared to the last digit.
        place = {}
        for at, row in enumerate(rows):
            place.setdefault(tuple(row[key] for key in "mnk"), at)
        out.sort(key=lambda row: place[tuple(row[key] for key in "mnk")])
        with open(folder / "gemm.csv", "w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, out[0])
            writer.writeheader()
            writer.writerows(out)
        assert fitted(binary, folder / "gemm.csv", folder / "a") == fitted(binary, ROWS, folder / "b"), "the fits differ"
    print("%d rows went through a ledger and gave the same fit" % len(rows))


if __name__ == "__main__":
    main()
