# SPDX-License-Identifier: Apache-2.0
"""The wheel that CMake builds: metadata, hashes, and that it works when it is unpacked."""
import base64
import glob
import hashlib
import os
import subprocess
import sys
import zipfile

import pytest

WHEELS = glob.glob(os.path.join(os.environ.get("PLUMBLINE_WHEELS", "."), "plumbline-*.whl"))
pytestmark = pytest.mark.skipif(not WHEELS, reason="no wheel was built (target plumbline_wheel)")


def test_record_names_every_file():
    with zipfile.ZipFile(WHEELS[0]) as archive:
        record = next(n for n in archive.namelist() if n.endswith("RECORD"))
        rows = dict(line.split(",", 1) for line in archive.read(record).decode().splitlines())
        assert set(rows) == set(archive.namelist())
        for name, rest in rows.items():
            if name != record:
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                assert rest == "sha256=%s,%d" % (digest, len(archive.read(name)))
        assert b"Requires-Python: >=3.9" in archive.read(record.replace("RECORD", "METADATA"))


def test_it_works_unpacked(tmp_path):
    with zipfile.ZipFile(WHEELS[0]) as archive:
        archive.extractall(tmp_path)
    code = "import plumbline; s = plumbline.Session.scripted(); print(plumbline.__file__, s.info()['scripted'])"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
                          capture_output=True, text=True, check=True)
    assert str(tmp_path) in done.stdout and "True" in done.stdout


def test_the_tool_comes_with_it(tmp_path):
    with zipfile.ZipFile(WHEELS[0]) as archive:
        if "plumbline/tool/plumbline" not in archive.namelist():
            pytest.skip("a build for debugging: its wheel takes readings only")
        archive.extractall(tmp_path)
    code = "from plumbline import tool; print(tool.binary(), tool.rank(hardware='h200').rows[0]['name'])"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True,
                          check=True)
    assert str(tmp_path) in done.stdout and "deep_narrow" in done.stdout


def test_a_virtual_environment_needs_no_compiler(tmp_path):
    """Debian's own Python, nothing on PATH: pip takes the wheel as it is, and both halves work."""
    with zipfile.ZipFile(WHEELS[0]) as archive:
        with_tool = "plumbline/tool/plumbline" in archive.namelist()
    made = subprocess.run(["/usr/bin/python3", "-m", "venv", str(tmp_path / "venv")], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip("no venv here: " + made.stdout.strip()[:200])
    python = str(tmp_path / "venv" / "bin" / "python")
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", WHEELS[0]], env=env, check=True, capture_output=True)
    code = "import plumbline; s = plumbline.Session.scripted(); assert s.info()['scripted']\n"
    if with_tool:
        code += """
from plumbline import tool
best = tool.rank(hardware='h200')
assert best.rows[0]['name'] == 'deep_narrow' and best._repr_html_().startswith('<iframe')
print(tool.binary())
"""
    done = subprocess.run([python, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not with_tool or str(tmp_path / "venv") in done.stdout
