#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws shapes to hold a search against: the winner, some behind it, a known model, and random ones of equal parameters.

search_shapes.py --plumbline BINARY [--space spaces/llama3_8b.toml] [--random 20] OUTPUT.json
search_shapes.py --judge SHAPES.json MEASURED.json    (what benchmarks/gpu/search_order.py wrote)
"""
import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLAMA = {"hidden_dim": 4096, "num_heads": 32, "num_kv_heads": 8, "head_dim": 128, "ffn_dim": 14336, "num_layers": 32,
         "vocab_size": 128256}
FIELDS = tuple(LLAMA)


def values(dimension):
    return dimension if isinstance(dimension, list) else list(range(dimension["from"], dimension["to"] + 1,
                                                                    dimension.get("step", 1)))


def predicted(plumbline, space, shape):
    """What the tool says of one shape, at the points of the space and without its constraints."""
    text = pathlib.Path(space).read_text(encoding="utf-8")
    keep = "".join(re.findall(r"^\[\[(?:point|hardware)\]\]\n(?:.+\n|\n(?!\[))*", text, re.M))
    derived = "".join(f"{k} = {v}\n" for k, v in shape.items() if k != "hidden_dim")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "one.toml"
        path.write_text(f"[dimensions]\nhidden_dim = [{shape['hidden_dim']}]\n[derived]\n{derived}{keep}"
                        "[objective]\nminimise = \"weighted_ms\"\n", encoding="utf-8")
        done = subprocess.run([plumbline, "--json", "arch", "search", path], capture_output=True, text=True, check=True)
    best = json.loads(done.stdout)["best"][0]
    return {k: v for k, v in best["quantities"].items() if k.endswith("_ms") or k == "parameters"} | {
        "low_ms": best["weighted_low_ms"], "high_ms": best["weighted_high_ms"]}


def draw(space, count, rng):
    """Shapes that fulfil the constraints, uniformly."""
    names, out = list(space["dimensions"]), []
    choices = [values(space["dimensions"][n]) for n in names]
    tests = [compile(c if isinstance(c, str) else c["expr"], "c", "eval") for c in space["constraints"].values()]
    while len(out) < count:
        v = {n: rng.choice(c) for n, c in zip(names, choices)}
        for name, text in space["derived"].items():
            v[name] = eval(text, {}, v) if isinstance(text, str) else text  # pylint: disable=eval-used
        layer = v["hidden_dim"] * (2 * v["num_heads"] + 2 * v["num_kv_heads"]) * v["head_dim"] + \
            3 * v["hidden_dim"] * v["ffn_dim"] + 2 * v["hidden_dim"]
        v["parameters"] = v["num_layers"] * layer + 2 * v["vocab_size"] * v["hidden_dim"] + v["hidden_dim"]
        v["kv_bytes_per_token"] = 4 * v["num_layers"] * v["num_kv_heads"] * v["head_dim"]
        if all(eval(t, {}, v) for t in tests):  # pylint: disable=eval-used
            out.append({n: v[n] for n in FIELDS})
    return out


def make(args):
    space = tomllib.loads(pathlib.Path(args.space).read_text(encoding="utf-8"))
    done = subprocess.run([args.plumbline, "--json", "arch", "search", args.space], capture_output=True, text=True, check=True)
    best = [{n: {**b["dimensions"], **b["quantities"]}[n] for n in FIELDS} for b in json.loads(done.stdout)["best"]]
    named = [("llama3_8b", LLAMA), ("first", best[0])]
    rng = random.Random(20)
    named += [(f"random {i + 1}", s) for i, s in enumerate(draw(space, args.random, rng))]
    named[4:4] = [(f"rank {r}", best[r - 1]) for r in (2, 10, 50, 100) if r <= len(best)]
    shapes = [{"name": n, "shape": s, "predicted": predicted(args.plumbline, args.space, s)} for n, s in named]
    pathlib.Path(args.output).write_text(json.dumps({"space": pathlib.Path(args.space).name, "shapes": shapes}, indent=1) + "\n", encoding="utf-8")
    for s in shapes:
        print(f"{s['name']:10} {s['predicted']['weighted_ms']:8.3f} ms  {s['shape']}")


def ranks(numbers):
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    out = [0] * len(numbers)
    for place, i in enumerate(order):
        out[i] = place
    return out


def judge(shapes_path, measured_path, decode_weight=8):
    said = {s["name"]: s["predicted"] for s in json.loads(pathlib.Path(shapes_path).read_text(encoding="utf-8"))["shapes"]}
    measured, points = {}, {}
    for m in json.loads(pathlib.Path(measured_path).read_text(encoding="utf-8"))["measured"]:
        if m["prefill_ms"] is None or m["decode_ms"] is None:
            print(f"{m['name']}: not measured: {'; '.join(m['not_run'])}")
            continue
        measured.setdefault(m["name"], []).append(m["prefill_ms"] + decode_weight * m["decode_ms"])
        points.setdefault(m["name"], m)
    rows = [(n, said[n], statistics.median(m)) for n, m in measured.items()]
    for n, p, m in sorted(rows, key=lambda r: r[1]["weighted_ms"]):
        inside = "inside" if p["low_ms"] <= m <= p["high_ms"] else "outside"
        print(f"{n:10} predicted {p['weighted_ms']:7.2f} ms ({p['low_ms']:.2f} to {p['high_ms']:.2f})  measured {m:7.2f}  "
              f"{100 * (p['weighted_ms'] / m - 1):+5.1f} %  {inside}  (prefill {100 * (p['prefill_ms'] / points[n]['prefill_ms'] - 1):+.1f} %, "
              f"decode {100 * (p['decode_ms'] / points[n]['decode_ms'] - 1):+.1f} %)")
    base, first = next(r for r in rows if r[0] == "llama3_8b"), next(r for r in rows if r[0] == "first")
    low, high = base[1]["low_ms"] / first[1]["high_ms"], base[1]["high_ms"] / first[1]["low_ms"]
    print(f"gain over Llama-3-8B's shape: predicted {base[1]['weighted_ms'] / first[1]['weighted_ms']:.4f} ({low:.4f} to {high:.4f} by the "
          f"bands), measured {base[2] / first[2]:.4f}")
    drift = [f"{n} {100 * (max(m) / min(m) - 1):.2f} %" for n, m in measured.items() if len(m) > 1]
    print(f"measured more than once: {', '.join(drift)} apart")
    drawn = [r for r in rows if r[0].startswith("random ")]
    for what, some in (("all", rows), ("random", drawn)):
        x, y = ranks([r[1]["weighted_ms"] for r in some]), ranks([r[2] for r in some])
        n = len(some)
        pairs = [(i, j) for i in range(n) for j in range(i)]
        clear = [(i, j) for i, j in pairs if abs(some[i][2] / some[j][2] - 1) > 0.02]
        right = sum((x[i] < x[j]) == (y[i] < y[j]) for i, j in pairs)
        sure = sum((x[i] < x[j]) == (y[i] < y[j]) for i, j in clear)
        print(f"{n} shapes ({what}): Spearman {1 - 6 * sum((a - b) ** 2 for a, b in zip(x, y)) / (n * (n * n - 1)):.3f}, pairs in the right "
              f"order {right} of {len(pairs)}; of those more than 2 % apart {sure} of {len(clear)}")
    print(f"the first is measured {1 + sum(r[2] < first[2] for r in rows)}. of {len(rows)}; "
          f"{sum(r[2] < first[2] for r in drawn)} of {len(drawn)} random shapes are faster")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--plumbline")
    parser.add_argument("--space", default=str(ROOT / "spaces/llama3_8b.toml"))
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--judge", nargs=2)
    parser.add_argument("output", nargs="?")
    args = parser.parse_args()
    if args.judge:
        judge(*args.judge)
    else:
        make(args)


if __name__ == "__main__":
    main()
