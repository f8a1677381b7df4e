#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel (PEP 427) of the Python package: a zip with metadata, the same bytes for the same input."""

import argparse
import base64
import hashlib
import os
import platform
import sys
import zipfile

_METADATA = """Metadata-Version: 2.1
Name: plumbline
Version: {version}
Summary: Readings of GPU work that survive a student that would cheat
License: Apache-2.0
Requires-Python: >=3.9
"""


def tag():
    """The wheel's tag: any Python 3 (ctypes), this platform's C library."""
    system = "linux" if sys.platform.startswith("linux") else sys.platform
    return "py3-none-%s_%s" % (system, platform.machine())


def build(package, version, output, tool=None, hardware=None):
    """Writes the wheel of the folder `package` into the folder `output`; returns its path. `tool` and the files of `hardware` lie together in
    it, where the tool finds them."""
    info = "plumbline-%s.dist-info" % version
    files = {}
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".so", ".typed")):
            with open(os.path.join(package, name), "rb") as stream:
                files["plumbline/" + name] = stream.read()
    if tool:
        with open(tool, "rb") as stream:
            files["plumbline/tool/plumbline"] = stream.read()
        for name in sorted(os.listdir(hardware)):
            with open(os.path.join(hardware, name), "rb") as stream:
                files["plumbline/tool/hardware/" + name] = stream.read()
    if not any(name.endswith(".so") for name in files):
        raise SystemExit("build_wheel: %s holds no library" % package)
    files[info + "/METADATA"] = _METADATA.format(version=version).encode()
    files[info + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: plumbline\nRoot-Is-Purelib: false\nTag: %s\n"
                              % tag()).encode()
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append("%s,sha256=%s,%d" % (name, digest, len(data)))
    rows.append("%s/RECORD,," % info)
    files[info + "/RECORD"] = ("\n".join(rows) + "\n").encode()
    os.makedirs(output, exist_ok=True)
    path = os.path.join(output, "plumbline-%s-%s.whl" % (version, tag()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            runs = name.endswith(".so") or name == "plumbline/tool/plumbline"
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            archive.writestr(entry, data)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--tool", help="the binary, and with it --hardware; without, the wheel takes readings only")
    parser.add_argument("--hardware")
    options = parser.parse_args()
    print(build(options.package, options.version, options.output, options.tool, options.hardware))
