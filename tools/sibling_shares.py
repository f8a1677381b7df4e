#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a few rows of a GPU do beside a sibling that is measured well: errors against the share of the rows.

    tools/sibling_shares.py PLUMBLINE GPU SIBLING[:SOURCE] ROWS... [--shares 5 20 100] [--alone]

A quarter of the sites of every table is kept back, whole: (n, k) of a GEMM, heads and window of attention, a model of experts, heads
and batch of latent attention. Of the other rows a share is drawn; `hardware calibrate --sibling` fits it, `hardware validate` judges it
on all the sites that were kept back. `--alone` does the same without the sibling.
"""
import argparse
import csv
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile

SITES = (("n", "k"), ("heads", "kv_heads", "head_dim", "window"), ("hidden", "inter", "topk", "experts"), ("heads", "batch"),
         ("hidden_dim", "num_heads", "ffn_dim"))


def number(*words):
    return int.from_bytes(hashlib.sha256("|".join(map(str, words)).encode()).digest()[:8], "little") / 2 ** 64


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def split(path):
    """-> (header, rows of known sites, rows of the quarter that is kept back)"""
    header, rows = read(path)
    columns = next((s for s in SITES if all(c in header for c in s)), None) or ("op", "rows", "cols")
    places = [header.index(c) for c in columns if c in header]
    known, kept = [], []
    for row in rows:
        (kept if number("site", *(row[p] for p in places)) < 0.25 else known).append(row)
    return header, known, kept


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("gpu")
    parser.add_argument("sibling")
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--shares", nargs="+", type=float, default=[5, 20, 100])
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables, kept_files = [], []
        for path in options.rows:
            header, known, kept = split(path)
            name = os.path.basename(path).removesuffix(".gz")
            tables.append((name, header, known))
            os.makedirs(os.path.join(folder, "kept"), exist_ok=True)
            kept_files.append(os.path.join(folder, "kept", name))
            write(kept_files[-1], header, kept)
        print("share  rows   operation            MAPE %  median  band covers %")
        for share in options.shares:
            files, count = [], 0
            for name, header, known in tables:
                drawn = [row for i, row in enumerate(known) if 100 * number("row", name, i) < share]
                count += len(drawn)
                files.append(os.path.join(folder, name))
                write(files[-1], header, drawn)
            target = os.path.join(folder, options.gpu + ".toml")
            beside = [] if options.alone else ["--sibling", options.sibling]
            run(options.plumbline, "hardware", "calibrate", *files, "--name", options.gpu, "--source", "measured", "-o", target, "--json",
                *beside)
            for op in run(options.plumbline, "hardware", "validate", target, *kept_files, "--json"):
                covers = op["coverage_pct"]
                print("%5g %6d  %-20s %6.2f  %6.2f  %s" % (share, count, op["op"], op["mape_pct"], op["median_pct"],
                                                        "-" if covers is None else "%.1f" % covers), flush=True)


if __name__ == "__main__":
    main()
