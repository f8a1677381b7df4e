# SPDX-License-Identifier: Apache-2.0
"""What a run was made of: the bytes of the card's files, and the switches of precision."""

import hashlib
import os

from . import _native as native

_SOURCES = (".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".toml", ".json")
_SKIPPED = ("runs", "__pycache__", "node_modules")
_MOST = 500  # files of a card


def files(folder):
    """{path relative to the card: SHA-256} of its contract and sources, sorted; runs and hidden folders left out."""
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        for name in sorted(names):
            if not name.endswith(_SOURCES) or name == "eval.json" or len(found) >= _MOST:
                continue
            path = os.path.join(where, name)
            try:
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, folder)] = hashlib.sha256(stream.read()).hexdigest()
            except OSError:
                continue
    return dict(sorted(found.items()))


def changed(before, after):
    """The paths whose bytes differ, sorted."""
    return sorted(p for p in set(before) | set(after) if before.get(p) != after.get(p))


def block(boundary, hashes, precision):
    """The eval's evidence block; None where there is no card."""
    if boundary is None:
        return None
    return {"card": boundary.card, "harness_version": native.version(), "files": hashes, "precision": precision}
