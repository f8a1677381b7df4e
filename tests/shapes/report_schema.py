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


def report(binary, *arguments, status=0, model="proxy"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        done = subprocess.run([binary, "arch", "report", "--model", model, *arguments, "--json-output", path], capture_output=True,
                              text=True, check=False)
        assert done.returncode == status, done.stderr
        return json.loads(path.read_text(encoding="utf-8"))


def remove_layers(artifact):
    del artifact["layers"]


def check_preset(preset, plain, generated):
    """The preset's layers are the built-in ones and the file's; its rules, written out here, decide what is ranked."""
    assert preset["layers"] == plain["layers"] + generated["layers"]
    rules = {"quality_width": lambda c: c["hidden_dim"] >= 2048, "quality_size": lambda c: c["hidden_dim"] * c["ffn_dim"] >= 16_000_000,
             "quality_ffn_ratio": lambda c: 3.75 <= c["ffn_dim"] / c["hidden_dim"] <= 5.5}
    assert [rule["name"] for rule in preset["preset"]["rules"]] == list(rules)
    passing = []
    for layer, told in zip(preset["layers"], preset["preset"]["layers"], strict=True):
        fails = [name for name, holds in rules.items() if not holds(layer)]
        assert told == {"name": layer["name"], "passes": not fails, "fails": fails}, told
        passing += [] if fails else [layer["name"]]
    assert 0 < len(passing) == preset["preset"]["passed"] < len(preset["layers"])
    for gpu in preset["hardware"]:
        assert len(gpu["comparison"]) == len(preset["layers"])
        times = {each["name"]: each["total_ms"] for each in gpu["comparison"]}
        for metric, ranking in gpu["rankings"].items():
            assert {each["name"] for each in ranking} == set(passing), metric
        assert [each["name"] for each in gpu["rankings"]["total_ms"]] == sorted(passing, key=times.get)
        assert gpu["summary"]["fastest_config"] == min(passing, key=times.get)
    pairs = len(passing) * (len(passing) - 1) // 2
    assert all(each["pairs"] == pairs and set(each["moved"]) <= set(passing) for each in preset["agreement"])


def report_parts(binary):
    """Layers with experts, latent attention, low precision and several GPUs. The layers that the artifact tells, read
    again, give the same artifact."""
    layers = ROOT / "tests/golden/arch_parts_report/layers.csv"
    artifact = report(binary, "--hardware", "h200", "--source", "vllm", "--configs", layers, model="measured")
    assert {"experts", "topk", "moe_ffn_dim", "dtype", "mlp_dtype", "kv_dtype", "tp", "ep"} <= {key for layer in artifact["layers"] for key in layer}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layers.json"
        path.write_text(json.dumps(artifact["layers"]), encoding="utf-8")
        assert artifact == report(binary, "--hardware", "h200", "--source", "vllm", "--configs", path, model="measured")
    return artifact


# One change each that the schema must refuse.
SPOILED = {
    "no layers": remove_layers,
    "another version": lambda a: a.update(schema_version=2),
    "an unknown key": lambda a: a.update(host="here"),
    "no time": lambda a: a["hardware"][0]["comparison"][0].update(total_ms=0),
    "an unknown provenance": lambda a: a["hardware"][0]["comparison"][0].update(provenance="guessed"),
    "half a dimension": lambda a: a["layers"][0].update(hidden_dim=1.5),
    "an unknown format": lambda a: a["layers"][0].update(dtype="fp9"),
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
    preset = report(binary, "--hardware", "h100", "--hardware", "a100", "--preset", "noeris-quality")
    check_preset(preset, one, generated)
    own = report(binary, "--hardware", "h100", "--preset", "noeris-quality", "--layer", "hidden_dim=1024,num_heads=8,num_kv_heads=8,head_dim=128,ffn_dim=4096", status=1)
    assert own["preset"]["passed"] == 0 and own["hardware"][0]["summary"] is None and len(own["layers"]) == 1
    parts = report_parts(binary)
    for artifact in (every, one, generated, preset, own, parts):
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(artifact)]
        assert not errors, errors
    for what, spoil in SPOILED.items():
        artifact = copy.deepcopy(one)
        spoil(artifact)
        assert not validator.is_valid(artifact), f"{what}: the schema accepts it"
    print(f"6 artifacts fit the schema; {len(SPOILED)} spoiled ones do not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
