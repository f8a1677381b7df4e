#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The artifact of `plumbline arch report` fits docs/schema/arch-report.schema.json, and what is not an artifact does
not.

  tests/shapes/report_schema.py BINARY"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def report(binary, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        subprocess.run([binary, "arch", "report", "--model", "proxy", *arguments, "--json-output", path], check=True,
                       capture_output=True)
        return json.loads(path.read_text(encoding="utf-8"))


def remove_layers(artifact):
    del artifact["layers"]


# One change each that the schema must refuse.
SPOILED = {
    "no layers": remove_layers,
    "another version": lambda a: a.update(schema_version=2),
    "an unknown key": lambda a: a.update(host="here"),
    "no time": lambda a: a["hardware"][0]["comparison"][0].update(total_ms=0),
    "an unknown provenance": lambda a: a["hardware"][0]["comparison"][0].update(provenance="guessed"),
    "half a dimension": lambda a: a["layers"][0].update(hidden_dim=1.5),
}


def main():
    binary = sys.argv[1]
    schema = json.loads((ROOT / "docs/schema/arch-report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    every, one = report(binary, "--all-hardware"), report(binary, "--hardware", "t4")
    assert len(every["hardware"]) >= 3 and every["left_out"], "no GPU of several, or none that is left out"
    generated = report(binary, "--hardware", "h100", "--configs", ROOT / "spaces/noeris_candidates.csv")
    assert len(generated["layers"]) == 40 and len({layer["name"] for layer in generated["layers"]}) == 40
    for artifact in (every, one, generated):
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(artifact)]
        assert not errors, errors
    for what, spoil in SPOILED.items():
        artifact = copy.deepcopy(one)
        spoil(artifact)
        assert not validator.is_valid(artifact), f"{what}: the schema accepts it"
    print(f"3 artifacts fit the schema; {len(SPOILED)} spoiled ones do not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
