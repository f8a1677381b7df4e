#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/plots/measuring-equal-sides.svg, from measured/h200/timing/aa_spread.json: how far apart each way of timing reads two equal sides."""
import json
import math
import pathlib

from plot_accuracy import document, dot, line, number, text

ROOT = pathlib.Path(__file__).resolve().parents[1]
KERNELS = [("3us", "3 µs"), ("10us", "10 µs"), ("50us", "50 µs"), ("500us", "500 µs"), ("gemm", "4096³ bf16 GEMM")]
WAYS = [("do_bench", "do_bench", "#d55e00"), ("events_flush", "events + flush", "#e69f00"), ("graph", "graph replays", "#0072b2"),
        ("plumbline", "plumbline", "#0b6e4f")]
LEFT, RIGHT, TOP, ROW = 150, 640, 56, 34
LOW, HIGH = 0.03, 20.0  # per cent


def place(percent):
    return LEFT + (RIGHT - LEFT) * math.log(max(percent, LOW) / LOW) / math.log(HIGH / LOW)


def main():
    kernels = json.loads((ROOT / "measured/h200/timing/aa_spread.json").read_text())["kernels"]
    rows = [(label, kernels[next(k for k in kernels if k.lower().startswith(name))]) for name, label in KERNELS]
    bottom = TOP + ROW * len(rows)
    parts = [text(12, 20, "Equal sides: how far apart each way of timing reads them", kind="title")]
    for i, (_, label, colour) in enumerate(WAYS):
        parts += [dot(LEFT + 125 * i, 38, 5, f'fill="{colour}"'), text(LEFT + 125 * i + 10, 42, label)]
    for mark in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10):
        parts += [line(place(mark), TOP, place(mark), bottom), text(place(mark), bottom + 16, number(mark) + " %", "middle", "small")]
    for i, (label, row) in enumerate(rows):
        y = TOP + ROW * (i + 0.5)
        parts.append(text(LEFT - 12, y + 4, label, "end"))
        found = [place(100 * row[way]["p95"]) for way, _, _ in WAYS]
        parts.append(line(min(found), y, max(found), y, "axis"))
        parts += [dot(x, y, 6 if way == "plumbline" else 5, f'fill="{colour}"') for x, (way, _, colour) in zip(found, WAYS)]
    parts.append(text((LEFT + RIGHT) / 2, bottom + 36, "|a/b − 1|, 95th percentile of 20 pairs; left is better", "middle", "small"))
    (ROOT / "docs/plots/measuring-equal-sides.svg").write_text(document(RIGHT + 30, bottom + 48, parts), encoding="utf-8")


if __name__ == "__main__":
    main()
