#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a field of every conformance case as a file: a corpus to start a fuzzer from.

    tests/fuzz/corpus.py contract toml build/corpus/window_toml
    tests/fuzz/corpus.py prep_report_text report_text build/corpus/prep_report
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main() -> int:
    kind, field, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    lines = (ROOT / f"tests/conformance/cases/{kind}.jsonl").read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    texts = {case[field] for case in cases if isinstance(case.get(field), str)}
    for number, text in enumerate(sorted(texts)):
        (folder / f"{number:05}").write_bytes(text.encode("utf-8", "surrogatepass"))
    print(f"{len(texts)} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
