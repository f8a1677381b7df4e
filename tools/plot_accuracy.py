#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plots of docs/accuracy.md, from the hardware files and the rows kept back: the same bytes for the same files.

  tools/plot_accuracy.py --plumbline build/release/plumbline

writes docs/plots/accuracy-by-operation.svg (errors by folds of unseen sites, beside what others reach) and
docs/plots/accuracy-by-size.svg (every row of tests/validation/h200, its error against its time).
"""
import argparse
import csv
import html
import json
import math
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT_BACK = ROOT / "tests" / "validation" / "h200"

# MAPE in per cent on sites that were not seen, on kept-back sites of the same files: one untuned gradient-boosted tree on log(time / roofline)
# with wave features, and aiconfigurator's interpolation. Ranges where several GPUs are meant.
TREE = "gradient-boosted tree"
INTERPOLATION = "aiconfigurator's interpolation"
PEERS = {("vllm", "gemm"): {TREE: (3.8, 4.5), INTERPOLATION: (5.3, 6.7)},
         ("vllm", "prefill"): {TREE: (2.6, 3.0)},
         ("vllm", "decode"): {TREE: (2.2, 5.2)},
         ("pytorch", "gemm"): {TREE: (7.6, 7.6)},
         ("pytorch", "gemm_misaligned"): {TREE: (56, 56)},
         ("pytorch", "prefill_flash"): {TREE: (5.8, 5.8)},
         ("pytorch", "prefill_cudnn"): {TREE: (5.8, 5.8)},
         ("pytorch", "decode_flash"): {TREE: (10.4, 10.4)},
         ("pytorch", "decode_cudnn"): {TREE: (10.4, 10.4)},
         ("pytorch", "layer_prefill"): {"sum of trees": (4.4, 4.4)}}
OURS, FORMULA, ROOFLINE, OTHERS = "#0b6e4f", "#0b6e4f", "#999999", "#c06014"
STYLE = ("<style>text{font:12px sans-serif;fill:#222}.small{font-size:11px;fill:#555}.title{font-size:14px;font-weight:bold}"
         ".grid{stroke:#ddd}.axis{stroke:#888}</style>")


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text(x, y, words, anchor="start", kind=""):
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{mark}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, kind="grid", extra=""):
    return (f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" class="{kind}"{extra}/>')


def dot(x, y, radius, extra):
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" {extra}/>'


def document(width, height, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">')
    return "\n".join([head, STYLE, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


class Log:
    """A logarithmic axis from `low` to `high` on pixels `first` to `last`."""

    def __init__(self, low, high, first, last):
        self.low, self.high, self.first, self.last = low, high, first, last

    def at(self, value):
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.first + share * (self.last - self.first)


def ask(plumbline, *arguments):
    done = subprocess.run([plumbline, "--json", *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def by_operation(plumbline):
    groups = []
    for gpu in ("h200", "h100", "a100"):
        for source in ask(plumbline, "hardware", "show", gpu)["sources"]:
            groups.append((gpu, source["name"], sorted(source["operations"].items())))
    axis = Log(1, 100, 190, 780)
    parts = [text(16, 24, "Errors on sites that the fold's fit did not see (MAPE, per cent)", kind="title")]
    legend = [("fitted", OURS, f'fill="{OURS}"'), ("formula alone", FORMULA, f'fill="#fff" stroke="{FORMULA}"'),
              ("roofline", ROOFLINE, f'fill="{ROOFLINE}"')]
    x = 190
    for name, _, extra in legend:
        parts += [dot(x, 44, 5, extra), text(x + 9, 48, name)]
        x += 35 + 7 * len(name)
    parts += [line(x, 44, x + 26, 44, "peer", f' stroke="{OTHERS}" stroke-width="4"'), text(x + 32, 48, "what others reach")]
    top = 66
    y = top
    rows = []
    for gpu, source, operations in groups:
        rows.append(text(16, y + 12, f"{gpu} {source}", kind="title"))
        y += 24
        for op, entry in operations:
            errors = entry["errors"]
            rows.append(text(178, y + 4, op, "end"))
            for number_of_peer, (_, (low, high)) in enumerate(sorted(PEERS.get((source, op), {}).items())):
                at = y - 4 + 8 * number_of_peer
                left, right = axis.at(low), axis.at(high)
                rows.append(line(left - 3, at, right + 3, at, "peer", f' stroke="{OTHERS}" stroke-width="4"'))
            for key, radius, extra in (("roofline_mape_pct", 4, legend[2][2]), ("formula_mape_pct", 4, legend[1][2]),
                                       ("mape_pct", 5, legend[0][2])):
                if key in errors:
                    rows.append(dot(axis.at(errors[key]), y, radius, extra))
            if "mape_pct" in errors:
                rows.append(text(800, y + 4, f"{errors['mape_pct']:.2f}", kind="small"))
            y += 19
        y += 6
    for tick in (1, 2, 5, 10, 20, 50, 100):
        parts.append(line(axis.at(tick), top, axis.at(tick), y))
        parts.append(text(axis.at(tick), y + 16, str(tick), "middle", "small"))
    notes = ("Others, on kept-back sites of the same files (ours: by folds): an untuned gradient-boosted tree on log(time / roofline);",
             "for public GEMM also aiconfigurator's interpolation, 5.3 - 6.7 %; for layers the sum of trees. Ranges span the GPUs.")
    parts += rows + [text(16, y + 36 + 15 * i, note, kind="small") for i, note in enumerate(notes)]
    return document(860, y + 64, parts)


def kept_back(plumbline):
    """{operation: [(measured ms, predicted ms, inside the band)]} of the rows kept back."""
    points = {}
    for path in sorted(KEPT_BACK.glob("*.csv")):
        op = path.stem.split("_")[0]
        op = {"layers": "layer"}.get(op, op)
        predicted = ask(plumbline, "hardware", "predict", "h200", "--op", op, "--rows", str(path))
        with path.open(newline="", encoding="utf-8") as file:
            measured = list(csv.DictReader(file))
        for row, answer in zip(measured, predicted, strict=True):
            if op == "gemm":
                name = "GEMM" if int(row["n"]) % 8 == 0 == int(row["k"]) % 8 else "GEMM, misaligned"
            elif op == "attention":
                kind = "decode" if row["q_len"] == "1" else "prefill"
                name = f"{kind}, {'cuDNN' if row['backend'] == 'cudnn' else 'flash'}"
            else:
                name = {"layers": "layers, prefill", "layers_decode": "layers, decode",
                        "layers_window": "layers, window"}[path.stem]
            ms = float(row["ms"])
            points.setdefault(name, []).append((ms, answer["ms"], answer["low_ms"] <= ms <= answer["high_ms"]))
    return points


def running_median(points, edges):
    """Median error and middle of each bin of times that holds at least five rows."""
    for low, high in zip(edges, edges[1:]):
        inside = sorted(abs(p / m - 1) for m, p, _ in points if low <= m < high)
        if len(inside) >= 5:
            yield math.sqrt(low * high), 100 * inside[len(inside) // 2]


def by_size(plumbline):
    points = kept_back(plumbline)
    names = ["GEMM", "GEMM, misaligned", "prefill, flash", "prefill, cuDNN", "decode, flash", "decode, cuDNN",
             "layers, prefill", "layers, window", "layers, decode"]
    parts = [text(16, 24, "H200, PyTorch: rows kept back, error (per cent) against measured time (ms)", kind="title"),
             dot(24, 42, 3, f'fill="{OURS}" fill-opacity="0.5"'), text(32, 46, "inside the 90 % band"),
             dot(174, 42, 3, f'fill="{OTHERS}" fill-opacity="0.8"'), text(182, 46, "outside"),
             line(244, 42, 270, 42, "median", ' stroke="#222" stroke-width="2"'), text(276, 46, "median of a bin")]
    edges = [10 ** (-3 + i / 2) for i in range(10)]
    for i, name in enumerate(name for name in names if name in points):
        left, top = 50 + 270 * (i % 3), 70 + 190 * (i // 3)
        xs, ys = Log(0.002, 20, left, left + 220), Log(0.1, 100, top + 140, top)
        mape = 100 * sum(abs(p / m - 1) for m, p, _ in points[name]) / len(points[name])
        parts.append(text(left, top - 6, f"{name}: {len(points[name])} rows, MAPE {mape:.1f} %"))
        for tick in (0.01, 0.1, 1, 10):
            parts += [line(xs.at(tick), top, xs.at(tick), top + 140),
                      text(xs.at(tick), top + 154, f"{tick:g}", "middle", "small")]
        for tick in (0.1, 1, 10, 100):
            parts += [line(left, ys.at(tick), left + 220, ys.at(tick)),
                      text(left - 5, ys.at(tick) + 4, f"{tick:g}", "end", "small")]
        for ms, predicted, inside in sorted(points[name]):
            extra = f'fill="{OURS}" fill-opacity="0.5"' if inside else f'fill="{OTHERS}" fill-opacity="0.8"'
            parts.append(dot(xs.at(ms), ys.at(100 * abs(predicted / ms - 1)), 2.5, extra))
        medians = [(xs.at(x), ys.at(y)) for x, y in running_median(points[name], edges)]
        if len(medians) > 1:
            path = " ".join(f"{number(x)},{number(y)}" for x, y in medians)
            parts.append(f'<polyline points="{path}" fill="none" stroke="#222" stroke-width="2"/>')
    return document(860, 70 + 190 * 3, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumbline", required=True)
    parser.add_argument("--output", default=str(ROOT / "docs" / "plots"), help="the folder; docs/plots")
    options = parser.parse_args()
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("accuracy-by-operation.svg", by_operation), ("accuracy-by-size.svg", by_size)):
        (folder / name).write_text(draw(options.plumbline), encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
