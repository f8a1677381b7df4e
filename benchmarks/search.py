#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arch search: rates, time by size, memory; and beside it random and evolutionary search. search.py --plumbline BINARY

Whole processes. A rate is shapes of the space over the seconds between two spaces that differ in size alone, so that
reading files and timing kernels do not count; `whole` counts them. Random and evolutionary search are plain Python over the
certificate's tables of kernel times, with a tenth of the evaluations that the exact search's tables hold kernel times, and
with as many. `--quick` leaves the largest spaces out.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPACES = ROOT / "benchmarks/data/spaces"
sys.path.insert(0, str(ROOT / "tools"))
import check_certificate  # noqa: E402  pylint: disable=wrong-import-position


def run(plumbline, space, *options):
    """Seconds of the process on the clock and of its processors, its peak memory in MB, its answer."""
    begin = time.monotonic()
    process = subprocess.Popen([plumbline, "--json", "arch", "search", space, *options], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"{space}: status {status}"
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(out)


def rates(plumbline):
    for model in ("proxy", "measured"):
        for threads in (1, 2):
            runs = []
            for size in ("", "_16"):
                runs.append(min((run(plumbline, SPACES / f"{model}_all{size}.toml", "--no-prune", "--threads", str(threads))
                                 for _ in range(3)), key=lambda r: r[threads == 1]))
            (wall, cpu, _, small), (longer, more, memory, large) = runs
            shapes = large["shapes"]["space"] - small["shapes"]["space"]
            print(f"{model:9} without pruning, {threads} thread{'s' * (threads > 1)}: {shapes / (more - cpu) / 1e6:6.1f} M shapes/s a "
                  f"processor, {shapes / (longer - wall) / 1e6:6.1f} M on the clock ({large['shapes']['space'] / longer / 1e6:.1f} M whole "
                  f"process; {memory:.0f} MB); load {os.getloadavg()[0]:.1f}")


def sizes(plumbline, quick):
    for name in ("million", "hundred_million", "billion", *(() if quick else ("sixty_billion", "trillion"))):
        clock, cpu, memory, answer = run(plumbline, SPACES / f"{name}.toml")
        shapes = answer["shapes"]
        print(f"{name:15} {shapes['space']:.2e} shapes: {clock:7.2f} s, {cpu:7.2f} s of processor, {memory:4.0f} MB, "
              f"{1e9 * cpu / shapes['space']:.2g} ns a shape; seen {shapes['seen']:.2e}, pruned {shapes['pruned']:.2e}")


class Plain:
    """One shape of a certificate, its value or infinity."""

    def __init__(self, certificate):
        self.space = check_certificate.Space(certificate)
        self.sizes = {d["name"]: len(d["values"]) for d in certificate["dimensions"]}
        self.calls = 0

    def draw(self, rng):
        return {n: rng.randrange(s) for n, s in self.sizes.items()}

    def value(self, shape):
        self.calls += 1
        of = self.space.box({n: (i, i + 1) for n, i in shape.items()})
        broken = sum(of(e)[0] == 0 for _, e in self.space.roots)
        return (broken, of(self.space.goal)[0])


def random_search(plain, count, rng):
    return min(plain.value(plain.draw(rng)) for _ in range(count))


def evolution(plain, count, rng, population=40):
    """Regularised evolution: the best of a sample has a child with one or two dimensions changed; the oldest dies."""
    alive = []
    for _ in range(min(population, count)):
        shape = plain.draw(rng)
        alive.append((plain.value(shape), shape))
    best = min(v for v, _ in alive)
    for _ in range(count - len(alive)):
        _, parent = min(rng.sample(alive, min(10, len(alive))), key=lambda a: a[0])
        child = dict(parent)
        for name in rng.sample(list(child), rng.randint(1, 2)):
            step = rng.choice([-3, -2, -1, 1, 2, 3]) if rng.random() < 0.7 else rng.randrange(plain.sizes[name])
            child[name] = min(max(child[name] + step, 0), plain.sizes[name] - 1)
        value = plain.value(child)
        best = min(best, value)
        alive.append((value, child))
        alive.pop(0)
    return best


def baselines(plumbline, space):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "c.json"
        clock, _, _, answer = run(plumbline, space, "--certificate", path)
        plain = Plain(json.loads(path.read_text(encoding="utf-8")))
    best, base = answer["best"][0]["objective"], answer["sub_shapes"]
    print(f"{space.stem}: exact {best:.3f} in {clock:.2f} s, {base} kernel times tabulated, of {answer['shapes']['space']:.2e} shapes")
    for count in (base // 10, base):
        for name, search in (("random", random_search), ("evolutionary", evolution)):
            found = [search(plain, count, random.Random(seed)) for seed in range(5)]
            values = sorted(v for broken, v in found if broken == 0)
            behind = f"{100 * (values[0] / best - 1):.2f} to {100 * (values[-1] / best - 1):.2f} % behind" if values else "-"
            print(f"  {name:12} {count:7} evaluations, 5 seeds: {len(values)} found an allowed shape, {behind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--plumbline", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["rates", "sizes", "baselines"])
    args = parser.parse_args()
    if args.only in (None, "rates"):
        rates(args.plumbline)
    if args.only in (None, "sizes"):
        sizes(args.plumbline, args.quick)
    if args.only in (None, "baselines"):
        baselines(args.plumbline, ROOT / "spaces/llama3_8b.toml")


if __name__ == "__main__":
    main()
