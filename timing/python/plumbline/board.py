# SPDX-License-Identifier: Apache-2.0
"""What the public boards publish of a problem: a definition (JSON: axes, inputs, outputs, the reference's source) and its
workloads (JSON lines: uuid, values of the variable axes, where each input comes from). FlashInfer-Bench and SOL-ExecBench
share these; a line of FlashInfer's wraps the workload in a trace."""

import ast
import json
import math
import os
import random
import struct

from ._native import PlumblineError

_SAFETENSORS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
                "F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8",
                "BOOL": "bool"}
_HEADER_LIMIT = 100 << 20
_AXIS_LIMIT = 1 << 40


def refuse(message):
    """The error of a board file that cannot be used."""
    return PlumblineError("leaderboard", message)


def read_json(path):
    """A JSON file, or the error that says which and why."""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError, RecursionError) as error:
        raise refuse("%s: %s" % (path, error)) from None


def read_lines(path):
    """The objects of a file of JSON lines."""
    rows = []
    try:
        with open(path, encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    try:
                        rows.append(json.loads(line))
                    except (ValueError, RecursionError) as error:
                        raise refuse("%s:%d: %s" % (path, number, error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise refuse("%s: %s" % (path, error)) from None
    return rows


def _object(value, what):
    if not isinstance(value, dict):
        raise refuse("%s is not an object" % what)
    return value


def check_definition(definition):
    """The definition, once it has everything that is read of it."""
    definition = _object(definition, "the definition")
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        raise refuse("the definition has no name")
    for key in ("axes", "inputs", "outputs"):
        for entry, value in _object(definition.get(key), "%s of %s" % (key, name)).items():
            _object(value, "%s.%s of %s" % (key, entry, name))
    for entry, spec in definition["inputs"].items():
        shape = spec.get("shape")
        if not isinstance(spec.get("dtype"), str) or not (shape is None or isinstance(shape, list)):
            raise refuse("inputs.%s of %s lacks its dtype, or its shape is not a list" % (entry, name))
    return definition


def workloads_of(rows, definition):
    """The workloads among `rows` that are of this definition, in order, each once."""
    found = {}
    for row in rows:
        row = _object(row, "a workload")
        if "workload" in row:  # a trace of FlashInfer-Bench
            if row.get("definition") not in (None, definition["name"]):
                continue
            row = _object(row["workload"], "a trace's workload")
        uuid = row.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            raise refuse("a workload of %s has no uuid" % definition["name"])
        _object(row.get("axes"), "axes of the workload " + uuid)
        for name, source in _object(row.get("inputs"), "inputs of the workload " + uuid).items():
            _object(source, "inputs.%s of the workload %s" % (name, uuid))
        found.setdefault(uuid, row)
    if not found:
        raise refuse("there is no workload of %s" % definition["name"])
    return found


def _evaluate(text, axes, what):
    operations = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
                  ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
                  ast.Pow: lambda a, b: a ** b if abs(b) <= 64 and abs(a) <= 1 << 32 else math.inf}

    def value(node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return node.value
        if isinstance(node, ast.Name) and node.id in axes:
            return axes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in operations:
            return operations[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            return value(node.operand) if isinstance(node.op, ast.UAdd) else -value(node.operand)
        raise refuse("%s: %r is not arithmetic over known axes" % (what, text))
    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, MemoryError, RecursionError) as error:
        raise refuse("%s: %r: %s" % (what, text, error)) from None


def axes_of(definition, workload):
    """Every axis of the definition by name: constants, the workload's values, and expressions of both."""
    axes = {}
    expressions = {}
    for name, axis in definition["axes"].items():
        kind = axis.get("type")
        if kind == "const":
            axes[name] = axis.get("value")
        elif kind == "var":
            if name not in workload["axes"]:
                raise refuse("the workload %s gives no value for the axis %s" % (workload["uuid"], name))
            axes[name] = workload["axes"][name]
        elif kind == "expr" and isinstance(axis.get("expression"), str):
            expressions[name] = axis["expression"]
        else:
            raise refuse("the axis %s is not a const, var or expr" % name)
    _whole(axes)
    plain = dict(axes)
    for name, text in expressions.items():
        number = _evaluate(text, plain, "the axis " + name)
        axes[name] = int(number) if isinstance(number, float) and number.is_integer() else number
    _whole(axes)
    return axes


def _whole(axes):
    for name, value in axes.items():
        if type(value) is not int or not 0 <= value <= _AXIS_LIMIT:
            raise refuse("the axis %s is %r, no whole number from 0 on" % (name, value))


def read_safetensors(path, key):
    """The tensor `key` of a safetensors file: (dtype, shape, bytes)."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as stream:
            length = struct.unpack("<Q", stream.read(8))[0]
            if length > min(size - 8, _HEADER_LIMIT):
                raise refuse("%s: the header is longer than the file" % path)
            header = json.loads(stream.read(length))
            entry = header[key]
            begin, end = entry["data_offsets"]
            dtype, shape = _SAFETENSORS[entry["dtype"]], entry["shape"]
            if not 0 <= begin <= end <= size - 8 - length:
                raise refuse("%s: %s lies outside the file" % (path, key))
            stream.seek(8 + length + begin)
            return dtype, shape, stream.read(end - begin)
    except PlumblineError:
        raise
    except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError) as error:
        raise refuse("%s: no tensor %s is read from it: %s" % (path, key, error)) from None


class BoardInputs:
    """make_inputs of one workload of a board, by the definition: each call draws anew from the generators."""

    def __init__(self, backend, definition, workload, roots, entrypoint=None):
        self._backend, self._definition, self._workload = backend, definition, workload
        self._roots, self._entrypoint = roots, entrypoint
        self.axes = axes_of(definition, workload)
        self._files = {}
        kinds = {source.get("type") for source in workload["inputs"].values()}
        unknown = sorted(str(k) for k in kinds - {"random", "scalar", "safetensors", "custom"})
        if unknown:
            raise refuse("the workload %s takes inputs from %s; known are random, scalar, safetensors and custom"
                         % (workload["uuid"], ", ".join(unknown)))
        self._custom = "custom" in kinds
        if self._custom and entrypoint is None:
            raise refuse("the workload %s wants custom inputs, and the definition names no custom_inputs_entrypoint"
                         % workload["uuid"])

    @property
    def varies(self):
        """Can fresh() make other contents? Not where all inputs are integers or numbers from files."""
        return any(self._kind(name) in ("random", "custom") or self._rolls(name) for name in self._definition["inputs"])

    def fresh(self):
        """A draw whose contents nobody knows beforehand: floats that come from a file are shifted along their last axis."""
        made = self()
        for name in made:
            if self._rolls(name):
                made[name] = self._backend.roll(made[name], random.SystemRandom().randrange(1, made[name].shape[-1]))
        return made

    def _rolls(self, name):
        spec = self._definition["inputs"][name]
        shape = self._shape(name, spec["shape"])
        return self._kind(name) == "safetensors" and "float" in spec["dtype"] and bool(shape) and shape[-1] > 1

    def _kind(self, name):
        return self._workload["inputs"].get(name, {"type": "random"})["type"]

    def __call__(self):
        names = list(self._definition["inputs"])
        if self._custom:
            given = dict(self.axes, **{n: s.get("value") for n, s in self._workload["inputs"].items()
                                       if s["type"] == "scalar"})
            made = _object(self._entrypoint(given), "what the board's own input function returns")
            missing = [n for n in names if n not in made]
            if missing:
                raise refuse("the board's own input function does not make %s" % ", ".join(missing))
            return {n: made[n] for n in names}
        return {name: self._one(name) for name in names}

    def _one(self, name):
        spec = self._definition["inputs"][name]
        source = self._workload["inputs"].get(name, {"type": "random"})
        if source["type"] == "scalar":
            return source.get("value")
        shape = self._shape(name, spec["shape"])
        if source["type"] == "safetensors":
            if name not in self._files:  # read and brought to the GPU once: every set of every window asks for it
                data = self._load(name, source, spec["dtype"], shape)
                self._files[name] = self._backend.from_bytes(data, shape, spec["dtype"])
            return self._backend.copy(self._files[name])
        return self._backend.random(shape, spec["dtype"])

    def _shape(self, name, shape):
        if shape is None:
            return None
        unknown = [str(axis) for axis in shape if not (isinstance(axis, int) or axis in self.axes)]
        if unknown:
            raise refuse("inputs.%s has an axis %s that is not defined" % (name, unknown[0]))
        return [axis if isinstance(axis, int) else self.axes[axis] for axis in shape]

    def _load(self, name, source, dtype, shape):
        relative, key = source.get("path"), source.get("tensor_key")
        if not isinstance(relative, str) or not isinstance(key, str):
            raise refuse("inputs.%s of the workload %s lacks its path or tensor_key" % (name, self._workload["uuid"]))
        places = [os.path.join(root, relative) for root in self._roots]
        path = next((p for p in places if os.path.isfile(p)), None)
        if path is None:
            raise refuse("inputs.%s: there is no %s (name its folder as \"root\", or with FLASHINFER_TRACE_DIR)"
                         % (name, " nor ".join(places) or relative))
        found, size, data = read_safetensors(path, key)
        if found != dtype or list(size) != list(shape or []):
            raise refuse("%s: %s is %s %s; the definition wants %s %s" % (path, key, found, list(size), dtype, shape))
        return data
