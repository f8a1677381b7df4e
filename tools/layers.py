#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on an #include that goes against the arrows between the stages.

base <- table, contract, model <- profile, bench (<- cards), pricing, hardware, search, serve <- evidence (of pricing) <- ledger <- report <- html <- cli
The fair-comparison half and the search half never include each other below report.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "table": {"base"},
    "contract": {"base"},
    "model": {"base"},
    "profile": {"base", "table"},
    "bench": {"base", "contract"},
    "cards": {"base", "contract", "bench"},
    "pricing": {"base", "table", "contract"},
    "evidence": {"base", "table", "contract", "pricing"},
    "hardware": {"base", "table", "model"},
    "search": {"base", "model"},
    "serve": {"base", "model"},
    "ledger": {"base", "table", "contract", "pricing", "evidence"},
    "report": {"base", "table", "contract", "model", "profile", "bench", "pricing", "evidence", "hardware", "search",
               "serve", "ledger"},
    "html": {"base", "table", "contract", "model", "pricing", "evidence", "hardware", "search", "ledger", "report"},
    "cli": {"base", "table", "contract", "model", "profile", "bench", "cards", "pricing", "evidence",
            "hardware", "search", "serve", "ledger", "report", "html"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]plumbline/(\w+)/', re.M)


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent / "src" / "plumbline"
    failures = []
    edges = 0
    for path in sorted(root.rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        stage = path.relative_to(root).parts[0]
        if stage not in ALLOWED:
            failures.append(f"{path}: folder {stage} is not a stage of the design")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            edges += 1
            target = match.group(1)
            if target != stage and target not in ALLOWED[stage]:
                line = text.count("\n", 0, match.start(1)) + 1
                failures.append(f"{path.relative_to(root.parent.parent)}:{line}: {stage} may not include {target}")
    print("\n".join(failures) if failures else f"{edges} includes follow the arrows")
    return 1 if failures or edges == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
