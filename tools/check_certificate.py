#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies a certificate of `plumbline arch search` by its own arithmetic.

Tables, definitions and dimensions are the question. Every slab's bound is computed anew and must be the one claimed; searched
slabs are divided until bounds, constraints or single shapes settle them, up to --budget boxes, then sampled.
Exit 0: verified; 1: rejected; 2: not a certificate.
"""
import argparse
import ast
import itertools
import json
import math
import operator
import random
import sys

INF = math.inf
CALLS = {"min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "sqrt": math.sqrt, "log": math.log}
PLAIN = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
         ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow}


class Rejected(Exception):
    """What is wrong with a certificate."""


def arithmetic(op, a, b):
    """The hull of a op b over two intervals."""
    f, points = PLAIN[op], a[0] == a[1] and b[0] == b[1]
    if op in (ast.Div, ast.FloorDiv, ast.Mod) and b[0] <= 0 <= b[1]:
        return (INF, INF) if points else (-INF, INF)
    if points:
        return (f(a[0], b[0]),) * 2
    if (op is ast.Mod and b[0] <= 0) or (op is ast.Pow and a[0] <= 0):
        return -INF, INF
    if op is ast.Mod:
        same = b[0] == b[1] and a[0] // b[0] == a[1] // b[0]
        return (a[0] % b[0], a[1] % b[0]) if same else (0, b[1])
    values = [f(float(x), float(y)) for x in a for y in b]
    if any(v != v for v in values):
        return -INF, INF
    ulp = math.nextafter if op is ast.Pow else lambda v, _: v
    return ulp(min(values), -INF), ulp(max(values), INF)


def compare(op, a, b):
    if op in (ast.Gt, ast.GtE):
        a, b, op = b, a, {ast.Gt: ast.Lt, ast.GtE: ast.LtE}[op]
    if op in (ast.Lt, ast.LtE):
        return (a[1] < b[0], a[0] < b[1]) if op is ast.Lt else (a[1] <= b[0], a[0] <= b[1])
    equal = a[0] == a[1] == b[0] == b[1], a[0] <= b[1] and b[0] <= a[1]
    return equal if op is ast.Eq else (not equal[1], not equal[0])


class Space:
    def __init__(self, c):
        self.dims = {d["name"]: d["values"] for d in c["dimensions"]}
        self.tables = {t["name"]: (t["dimensions"], t["values"]) for t in c["tables"]}
        self.trees = {name: ast.parse(text.strip(), mode="eval").body for name, text in c["definitions"]}
        self.roots = [(k["name"], ast.parse(k["expr"], mode="eval").body) for k in c["constraints"]]
        self.goal = ast.parse(c["objective"], mode="eval").body
        self.front = [ast.parse(f, mode="eval").body for f in c["front_objectives"]]

    def box(self, cell):
        """A function that gives the interval of an expression over cell = {dimension: (low, high)} of places."""
        known = {}

        def name(n):
            if n in self.dims:
                low, high = cell[n]
                return self.dims[n][low], self.dims[n][high - 1]
            if n in self.tables:
                dims, values = self.tables[n]
                places = [0]
                for d in dims:
                    places = [p * len(self.dims[d]) + i for p in places for i in range(*cell[d])]
                return min(values[p] for p in places), max(values[p] for p in places)
            return of(self.trees[n])

        def of(e):
            if isinstance(e, ast.Constant):
                return e.value, e.value
            if isinstance(e, ast.Name):
                known[e.id] = known[e.id] if e.id in known else name(e.id)
                return known[e.id]
            if isinstance(e, ast.BinOp):
                return arithmetic(type(e.op), of(e.left), of(e.right))
            if isinstance(e, ast.UnaryOp):
                a = of(e.operand)
                return {ast.Not: (int(a == (0, 0)), int(a[0] <= 0 <= a[1])), ast.USub: (-a[1], -a[0]),
                        ast.UAdd: a}[type(e.op)]
            if isinstance(e, ast.Compare):
                sides = [of(s) for s in [e.left, *e.comparators]]
                each = [compare(type(o), a, b) for o, a, b in zip(e.ops, sides, sides[1:])]
                return int(all(x[0] for x in each)), int(all(x[1] for x in each))
            if isinstance(e, ast.BoolOp):
                join, each = all if isinstance(e.op, ast.And) else any, [of(v) for v in e.values]
                return int(join(not a[0] <= 0 <= a[1] for a in each)), int(join(a != (0, 0) for a in each))
            if isinstance(e, ast.IfExp):
                test = of(e.test)
                if test == (0, 0) or not test[0] <= 0 <= test[1]:
                    return of(e.orelse if test == (0, 0) else e.body)
                a, b = of(e.body), of(e.orelse)
                return min(a[0], b[0]), max(a[1], b[1])
            if isinstance(e, ast.Call) and e.func.id in CALLS:
                args, f = [of(a) for a in e.args], CALLS[e.func.id]
                if e.func.id in ("sqrt", "log") and args[0][0] <= 0:
                    return -INF, INF
                low, high = f(*(a[0] for a in args)), f(*(a[1] for a in args))
                wide = e.func.id == "log" and low != high
                return (math.nextafter(low, -INF), math.nextafter(high, INF)) if wide else (low, high)
            raise Rejected(f"an expression holds {type(e).__name__}")
        return of

    def cell_of(self, number):
        cell = {}
        for n in reversed(self.dims):
            number, place = divmod(number, len(self.dims[n]))
            cell[n] = place, place + 1
        return cell

    def number(self, cell):
        out = 0
        for n in self.dims:
            out = out * len(self.dims[n]) + cell[n][0]
        return out


def check(c, budget, rng):
    space, limit = Space(c), c["limit"]
    top = [(t["value"], t["number"]) for t in c["top"]]
    front = [(tuple(f["values"]), f["number"]) for f in c["front"]]
    if top != sorted(top) or len(set(top)) != len(top) or len(top) > limit:
        raise Rejected("the shapes found are not in order")
    listed = {n for _, n in top}
    for value, number in [*top, *front]:
        of = space.box(space.cell_of(number))
        said = tuple(of(e)[0] for e in space.front) if isinstance(value, tuple) else of(space.goal)[0]
        if any(of(e)[0] == 0 for _, e in space.roots) or value != said:
            raise Rejected(f"shape {number} is not what it is said to be")
    for (v, n), (w, m) in itertools.permutations(front, 2):
        if all(x <= y for x, y in zip(v, w)):
            raise Rejected(f"front point {m} is dominated by {n}")

    def settled(of, cell):
        """No shape of the box belongs to the answer unseen: it comes behind the last one, and a front point covers it."""
        first, least = space.number(cell), tuple(of(e)[0] for e in space.front)
        one = all(high - low == 1 for low, high in cell.values())
        behind = (len(top) == limit and (of(space.goal)[0], first) > top[-1]) or (one and first in listed)
        return behind and (not least or any(all(x <= y for x, y in zip(v, least)) and (v != least or n <= first)
                                            for v, n in front))
    ordered = [range(len(d["cuts"]) - 1) for d in c["dimensions"]]
    if len(c["slabs"]) != math.prod(map(len, ordered)) or \
            any(d["cuts"] != sorted(set(d["cuts"])) or d["cuts"][0] != 0 or d["cuts"][-1] != len(d["values"])
                for d in c["dimensions"]) or c["shapes"] != math.prod(len(d["values"]) for d in c["dimensions"]) or \
            c["tally"]["seen"] + c["tally"]["pruned"] + sum(c["tally"]["rejected"]) != c["shapes"]:
        raise Rejected("the slabs do not cover the space, or the counts do not add up to it")
    done = sampled = 0
    for (bound, fate, refused), cuts in zip(c["slabs"], itertools.product(*ordered)):
        cell = {d["name"]: (d["cuts"][i], d["cuts"][i + 1]) for d, i in zip(c["dimensions"], cuts)}
        of = space.box(cell)
        if of(space.goal)[0] != bound:
            raise Rejected(f"a bound is {bound} and should be {of(space.goal)[0]}")
        if (fate == "refused") != (refused is not None) or (refused and of(dict(space.roots)[refused]) != (0, 0)):
            raise Rejected(f"a slab is not refused by {refused}")
        if fate == "bounded" and not settled(of, cell):
            raise Rejected(f"a slab with the bound {bound} is not settled by it")
        stack = [cell] if fate == "searched" else []
        while stack:
            cell = stack.pop()
            if done >= budget:  # too large to be settled: a shape of what is left is drawn
                cell, sampled = {n: (lambda i: (i, i + 1))(rng.randrange(*r)) for n, r in cell.items()}, sampled + 1
            of, done = space.box(cell), done + 1
            if any(of(e) == (0, 0) for _, e in space.roots) or settled(of, cell):
                continue
            widest = max(cell, key=lambda n: cell[n][1] - cell[n][0])
            (low, high), middle = cell[widest], sum(cell[widest]) // 2
            if high - low == 1:
                raise Rejected(f"shape {space.number(cell)} belongs to the answer and is not in it")
            stack += [{**cell, widest: (middle, high)}, {**cell, widest: (low, middle)}]
    print(f"verified: {len(c['slabs'])} slabs of {c['shapes']} shapes, {done} boxes evaluated, {sampled} of them samples")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("certificate")
    parser.add_argument("--budget", type=int, default=1_000_000)
    args = parser.parse_args()
    try:
        check(json.load(open(args.certificate, encoding="utf-8")), args.budget, random.Random(1))
        return 0
    except (Rejected, KeyError, TypeError, ValueError, OSError, AttributeError, IndexError) as error:
        known = isinstance(error, Rejected)
        print(f"rejected: {error}" if known else f"not a certificate: {error!r}", file=sys.stderr)
        return 1 if known else 2


if __name__ == "__main__":
    sys.exit(main())
