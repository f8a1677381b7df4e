#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records which kernel PyTorch runs for y[m,n] = x[m,k] w[n,k]^T in bf16: names, no times.

    python3 tools/record_kernels.py --out FILE.csv [--seconds N] [ROWS.csv ...]

`kernel` is the name without template arguments and parameters; where a kernel that adds up the parts of a divided k
runs after it, its name follows behind a +.

The shapes are those of ROWS.csv (the m, n and k columns of measured GEMM rows), then those that `plumbline arch
cliffs` looks at around the projections of published models and around vocabularies. A library chooses its kernel
by shape alone, so a name needs one launch, seen by torch.profiler. `plumbline hardware calibrate` reads the file
beside measured rows; a cliff between two recorded shapes is then named by the tiles of their kernels.
"""
import argparse
import csv
import os
import time

import torch
from torch.profiler import ProfilerActivity, profile

from measure_common import DEVICE, DTYPE, MODELS, VOCABULARIES, graph_timing, write_machine

TOKENS = (1, 64, 2048)  # decode of one and of many sequences, prefill
BATCH = 400  # shapes in one profile


def neighbours(size):
    """The sizes that `arch cliffs` scans around one (src/plumbline/search/cliffs.cpp)."""
    out = {size}
    for step in (1, 2, 4, 8, 64, 128):
        out |= {size - step, size + step}
    for unit in (8, 64, 128):
        out |= {size // unit * unit, (size // unit + 1) * unit}
    return sorted(s for s in out if s > 0)


def measured(paths):
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                yield int(row["m"]), int(row["n"]), int(row["k"])


def projections(layer):
    """(n, k) of a layer's four GEMMs; the same layers as src/plumbline/search/builtin.cpp are among MODELS."""
    hidden, heads, kv_heads, dim, ffn = layer
    return (((heads + 2 * kv_heads) * dim, hidden), (hidden, heads * dim), (2 * ffn, hidden), (hidden, ffn))


def scanned():
    """What `arch cliffs` looks at around published layers, around their GEMMs alone, and around vocabularies."""
    layers = [*MODELS, (1536, 8, 1, 256, 8192), (2048, 8, 1, 256, 8192)]
    for layer in layers:
        for place in (0, 4, 3):  # hidden_dim, ffn_dim, head_dim
            for size in neighbours(layer[place]):
                for n, k in projections((*layer[:place], size, *layer[place + 1:])):
                    yield from ((m, n, k) for m in TOKENS)
    for n, k in dict.fromkeys(gemm for layer in layers for gemm in projections(layer)):
        for m in TOKENS:
            yield from ((m, size, k) for size in neighbours(n))
            yield from ((m, n, size) for size in neighbours(k))
        for tokens in (16, 256, 1024, 2048, 4096):
            yield from ((size, n, k) for size in neighbours(tokens))
    for n in VOCABULARIES:
        for k in (2048, 4096):
            for m in (1, 2048):
                yield from ((m, size, k) for size in neighbours(n))


def kernels_of(shapes, memory):
    """One list of kernel names for each shape, or None where launches and shapes do not match."""
    x_memory, w_memory, y_memory = memory

    def multiply(m, n, k):
        torch.mm(x_memory[:m * k].view(m, k), w_memory[:n * k].view(n, k).t(), out=y_memory[:m * n].view(m, n))

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for shape in shapes:
            multiply(*shape)
        torch.cuda.synchronize()
    calls = sorted((e for e in seen.events() if e.name == "aten::mm"), key=lambda e: e.time_range.start)
    if len(calls) != len(shapes):
        return None
    return [[graph_timing.plain(k.name) for k in call.kernels if not k.name.startswith("Mem")] for call in calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    shapes = list(dict.fromkeys([*measured(options.rows), *scanned()]))
    memory = [torch.randn(max(a * b for a, b in sizes), device=DEVICE, dtype=DTYPE)
              for sizes in ([(m, k) for m, n, k in shapes], [(n, k) for m, n, k in shapes],
                            [(m, n) for m, n, k in shapes])]
    kernels_of(shapes[:10], memory)  # libraries are loaded
    end, dropped, written = time.monotonic() + options.seconds, 0, 0
    with open(options.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["m", "n", "k", "kernel"])
        for first in range(0, len(shapes), BATCH):
            if time.monotonic() > end:
                break
            batch = shapes[first:first + BATCH]
            found = kernels_of(batch, memory)
            for shape, names in zip(batch, found or [[]] * len(batch)):
                if any("splitKreduce" not in name for name in names or []):
                    writer.writerow([*shape, "+".join(names)])
                    written += 1
                else:
                    dropped += 1
            file.flush()
    write_machine(os.path.dirname(options.out) or ".")
    print(f"{written} of {len(shapes)} shapes recorded, {dropped} without a matching launch")


if __name__ == "__main__":
    main()
