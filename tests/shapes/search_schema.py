#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Artifacts of `plumbline arch search` fit docs/schema/search.schema.json, spoiled ones do not: search_schema.py PLUMBLINE

With a front, without one, with losses that are uncertain, and outside the range of their law.
"""
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACE = """[dimensions]
hidden_dim = { from = 256, to = 2048, step = 128 }
ffn_dim = { from = 1024, to = 8192, step = 512 }
num_layers = [4, 12, 24]
[derived]
num_heads = 8
num_kv_heads = 4
head_dim = 128
vocab_size = 1000
[constraints]
ratio = "ffn_ratio <= 8"
[[point]]
name = "p"
phase = "prefill"
[objective]
minimise = "p_ms"
"""
LAW = 'front = ["p_ms", "loss"]\n[quality]\nlaw = "besiroglu2024"\ntokens = '
SPOILED = {
    "no count": lambda a: a["undominated_90"].pop("shapes"),
    "a shape without its losses": lambda a: a["undominated_90"]["listed"][0].pop("front"),
    "an unknown key": lambda a: a.update(host="here"),
    "another kind": lambda a: a.update(kind="plumbline-arch-report"),
    "half a shape": lambda a: a["shapes"].update(seen=0.5),
    "no law": lambda a: a["outside_law"].pop("law"),
}


def main():
    schema = json.loads((ROOT / "docs/schema/search.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "s.toml"

        def search(more, *options):
            path.write_text(SPACE + more, encoding="utf-8")
            done = subprocess.run([sys.argv[1], "--json", "arch", "search", path, *options], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            artifact = json.loads(done.stdout)
            errors = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(artifact)]
            assert not errors, errors
            return artifact

        plain = search("")
        assert "front" not in plain and "outside_law" not in plain
        law = search(LAW + "1e11\n")
        assert law["undominated_90"]["uncertain_only"] == 0 and law["undominated_90"]["shapes"] == len(law["front"])
        proof = pathlib.Path(name) / "proof.json"
        scatter = search(LAW + "1e13\nscatter = 0.01\n", "--certificate", proof)
        told = scatter["undominated_90"]
        assert told["uncertain_only"] >= len(told["listed"]) > 0 and scatter["outside_law"]["tokens_outside"], told["rule"]
        outside = scatter["outside_law"]
        for key, shapes in (("best_outside", scatter["best"]), ("front_outside", scatter["front"]), ("undominated_outside", told["listed"])):
            assert outside[key] == sum(not 70e6 <= s["quantities"]["parameters"] <= 16e9 for s in shapes), key
        assert outside["front_outside"] > 0
        # The certificate proves the front of the central losses, as it did.
        done = subprocess.run([sys.executable, ROOT / "tools/check_certificate.py", proof], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        for what, spoil in SPOILED.items():
            artifact = copy.deepcopy(scatter)
            spoil(artifact)
            assert not validator.is_valid(artifact), f"{what}: the schema accepts it"
    print(f"3 artifacts fit the schema; {len(SPOILED)} spoiled ones do not")


if __name__ == "__main__":
    main()
