#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table that `plumbline import` writes fits docs/schema/kernel-table.schema.json, and what the reader refuses
as malformed the schema refuses too."""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIANTS = ROOT / "tests/profile/variants"


def main() -> int:
    binary = sys.argv[1]
    schema = json.loads((ROOT / "docs/schema/kernel-table.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures, tables = [], 0
    files = sorted(p for p in VARIANTS.iterdir() if p.suffix in {".csv", ".json"} and p.name != "expectations.json")
    files += sorted((ROOT / "tests/data/h200_attention_backward").glob("*.csv"))
    files += sorted((ROOT / "tests/data/h200_attention_backward").glob("*.trace.json"))
    for path in files:
        done = subprocess.run([binary, "--json", "import", str(path)], capture_output=True, check=False)
        if done.returncode != 0:
            # One document all the same: that it is refused, and why; never a table.
            answer = json.loads(done.stdout)
            if answer["ok"] or not answer["reasons"] or "kernels" in answer:
                failures.append(f"{path.name}: refused, and yet its document is not a refusal")
            continue
        tables += 1
        table = json.loads(done.stdout)
        failures += [f"{path.name}: {error.message}" for error in validator.iter_errors(table)]
        account = table["account"]
        if account["rows"] != account["kept"] + account["dropped"] + account["ignored"]:
            failures.append(f"{path.name}: rows are not kept + dropped + ignored")
    for name in ("table_schema_2.json", "table_negative.json"):
        if validator.is_valid(json.loads((VARIANTS / name).read_text(encoding="utf-8"))):
            failures.append(f"{name}: the schema accepts what the reader refuses")
    print("\n".join(failures) if failures else f"{tables} tables fit the schema")
    return 1 if failures or tables < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
