#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every diagnostic code that the sources report stands in the table, and every code of the table is reported."""
import pathlib
import re
import sys

TABLE = re.compile(r'^\s*\{\s*"([a-z0-9-]+)",\s*k(?:Error|Finding|Warning|Note)', re.M)
USE = re.compile(r'\bdiagnose\(\s*"([a-z0-9-]+)"')
SLUG = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"')


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    table_path = root / "src/plumbline/base/codes.cpp"
    codes = TABLE.findall(table_path.read_text(encoding="utf-8"))
    used, literals = {}, set()
    for path in sorted((root / "src").rglob("*.cpp")) + sorted((root / "src").rglob("*.h")):
        if path == table_path:
            continue
        text = path.read_text(encoding="utf-8")
        for code in USE.findall(text):
            used.setdefault(code, path.relative_to(root))
        literals.update(SLUG.findall(text))
    for path in sorted((root / "timing").rglob("*")):  # the recorder and the Python package report codes as text
        if path.suffix in {".py", ".cpp", ".h"}:
            literals.update(SLUG.findall(path.read_text(encoding="utf-8")))
    failures = [f"{where}: code {code} is not in the table" for code, where in used.items() if code not in codes]
    failures += [f"code {code} is in the table and nothing reports it" for code in codes if code not in literals]
    failures += [f"code {code} is in the table twice" for code in sorted(set(codes)) if codes.count(code) > 1]
    print("\n".join(failures) if failures else f"{len(codes)} codes, all reported and all explained")
    return 1 if failures or not codes else 0


if __name__ == "__main__":
    sys.exit(main())
