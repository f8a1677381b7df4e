# SPDX-License-Identifier: Apache-2.0
"""What each side may receive: the inputs that the card's contract (window.toml) lists."""

import collections
import json
import os

from ._native import PlumblineError

Boundary = collections.namedtuple("Boundary", "card folder reference student outputs")


def find_card(paths):
    """The folder of the card: the first of `paths`, from the last on, that holds a contract; or None."""
    for path in reversed(list(paths)):
        if os.path.isfile(os.path.join(path, "window.toml")):
            return os.path.abspath(path)
    return None


def _contract(folder):
    """The contract as a dict, or None with the reason."""
    given = os.environ.get("PLUMBLINE_CONTRACT")  # `plumbline run` has read it, with every check
    if given:
        try:
            read = json.loads(given)
            if os.path.realpath(read.pop("card_folder", "")) == os.path.realpath(folder):
                return read, None
        except (ValueError, AttributeError):
            pass
    try:
        import tomllib
    except ImportError:
        return None, "the contract was not held against what the sides receive: Python 3.11 reads TOML, this one does not"
    try:
        with open(os.path.join(folder, "window.toml"), "rb") as stream:
            return tomllib.load(stream), None
    except (OSError, ValueError) as error:
        raise PlumblineError("boundary", "%s: %s" % (os.path.join(folder, "window.toml"), error)) from None


def _names(table, key):
    value = table.get(key) if isinstance(table, dict) else None
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else None


def load(paths):
    """(Boundary or None, a note or None). Nothing is known without a contract; one that lists no inputs of a side refuses."""
    folder = find_card(paths)
    if folder is None:
        return None, None
    contract, note = _contract(folder)
    if contract is None:
        return None, note
    sides = {}
    for side in ("reference", "student"):
        sides[side] = _names(contract.get(side), "inputs")
        if sides[side] is None:
            raise PlumblineError("boundary", "%s lists no inputs of the %s" % (os.path.join(folder, "window.toml"), side))
    outputs = set(_names(contract.get("reference"), "outputs") or []) | set(_names(contract.get("student"), "outputs") or [])
    return Boundary(os.path.basename(folder), folder, sides["reference"], sides["student"], outputs), None


def allowed(boundary, side, made, written, is_tensor):
    """Those of `made` (names to values) that `side` may receive: what the contract lists, what a call writes in place, and
    plain numbers and strings, which a contract does not list. All of them without a contract."""
    if boundary is None:
        return list(made)
    listed = set(getattr(boundary, side)) | set(written)
    return [name for name in made if name in listed or not is_tensor(made[name])]
