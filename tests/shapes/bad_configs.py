#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are too large, cut short or no files: one diagnostic, exit 2, in little time and memory.

  tests/shapes/bad_configs.py BINARY"""
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = ROOT / "tests" / "unit" / "model" / "configs" / "llama-3.1-8b.json"


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))


def refused(binary, folder, name, content, code, option="--hf"):
    path = pathlib.Path(folder) / name
    if content is not None:
        path.write_bytes(content)
    done = subprocess.run([binary, "arch", "predict", "--hardware", "a100", "--model", "proxy", option, path],
                          capture_output=True, text=True, check=False, preexec_fn=limits, timeout=60)
    assert done.returncode == 2, (name, done.returncode, done.stderr)
    assert done.stdout == "", (name, done.stdout)
    assert done.stderr.count("error:") == 1 and f"[{code}]" in done.stderr, (name, done.stderr[:500])


def main():
    binary = sys.argv[1]
    whole = CONFIG.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        refused(binary, folder, "huge.json", b'{"model_type": "llama", "x": "' + b"a" * 100_000_000 + b'"}',
                "file-too-large")
        refused(binary, folder, "cut.json", whole[:len(whole) // 2], "json-syntax")
        refused(binary, folder, "empty.json", b"", "json-syntax")
        refused(binary, folder, "binary.json", bytes(range(256)), "file-not-utf8")
        refused(binary, folder, "deep.json", b"[" * 1_000_000, "json-too-deep")
        refused(binary, folder, "absent.json", None, "file-missing")
        refused(binary, folder, ".", None, "file-missing")  # a folder stands for its config.json
        refused(binary, folder, "empty.csv", b"", "layers-empty", "--configs")
        refused(binary, folder, "deep2.json", b"[" * 1_000_000, "json-syntax", "--configs")
        refused(binary, folder, "one-line.csv", b"hidden_dim," + b"x" * 10_000_000, "layers-header", "--configs")
        refused(binary, folder, "cut2.json", b'[{"hidden_dim": 1', "json-syntax", "--configs")
    print("every broken file refused with one diagnostic")
    return 0


if __name__ == "__main__":
    sys.exit(main())
