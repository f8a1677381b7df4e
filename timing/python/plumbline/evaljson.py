# SPDX-License-Identifier: Apache-2.0
"""The eval JSON (docs/schema/eval.schema.json) and the few statistics that it needs."""

import collections
import json
import math
import os
import platform
import tempfile

from . import _native as native

SCHEMA_VERSION = 1

# What is known of a measured workload; every field is plain data, but for `comparison`: (Comparison, reference samples,
# student samples, kept) or None.
Workload = collections.namedtuple(
    "Workload", "name campaign shape window findings notes comparison per_call sealed draws fresh_ratio calls sets set_bytes "
    "l2 refreshed checked drained_ms receives threads graphs parent quiet output_error pipelined_verdict prep")
_STOPS = {0: "noise", 1: "time limit", 2: "rounds"}  # why no further rounds were measured


def median(values):
    """The middle value; NaN when there is none."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def middle_reading(readings):
    """The reading whose time is the (lower) median."""
    return sorted(readings, key=lambda r: r.ms)[(len(readings) - 1) // 2]


def relative_error(values):
    """Relative standard error of the mean, after a fifth is cut off each end (Yuen); infinite under three values."""
    n = len(values)
    if n < 3:
        return math.inf
    ordered, cut = sorted(values), int(0.2 * n)
    wins = [ordered[min(max(i, cut), n - 1 - cut)] for i in range(n)]
    mean = sum(wins) / n
    spread = math.sqrt(sum((w - mean) ** 2 for w in wins) / (n - 1))
    return spread / ((1 - 2 * cut / n) * math.sqrt(n)) / mean if mean > 0 else math.inf


def geometric_mean(values):
    """exp(mean(log)); None when any value is missing, zero, negative or not finite: such a mean would be a lie."""
    if not values or any(v is None or not math.isfinite(v) or v <= 0 for v in values):
        return None
    return math.exp(sum(math.log(v) for v in values) / len(values))


def _interval(values):
    ordered, n = sorted(values), len(values)
    half = 0.98 * math.sqrt(n)  # order statistics, 95 %
    low, high = max(0, int(n / 2 - half)), min(n - 1, math.ceil(n / 2 + half) - 1)
    return [ordered[low], ordered[max(low, high)]]


def side_block(samples, per_call, readings, pipelined=None):
    """One side's readings: both windows, host tax, samples, interval, clock, temperature."""
    samples = [s for s in samples if not math.isnan(s)]
    block = {"pipelined_ms": None, "per_call_ms": None, "host_tax_ms": None, "samples_ms": samples}
    if samples:
        block.update({"pipelined_ms": median(samples) if pipelined is None else pipelined,
                      "median_ms": median(samples), "interval_ms": _interval(samples)})
    if per_call:
        block.update({"per_call_ms": median(per_call), "per_call_samples_ms": list(per_call)})
        if samples:
            block["host_tax_ms"] = block["per_call_ms"] - block["pipelined_ms"]
    if readings is not None:
        block["sm_mhz"] = _median_known(r.sm_mhz for r in readings)
        block["temperature_c"] = _median_known(r.temperature_c for r in readings)
    return block


def _median_known(values):
    return native.known(median([v for v in values if not math.isnan(v)]))


def l2_label(session, sets, calls, cold, backend):
    """How the pipelined window finds L2: "cold" (flushed, and the rotation is larger than twice L2), else said."""
    if backend is None or not sets or not sets[0]:
        return "flushed before the window" if cold else "hot"
    nbytes = sum(backend.describe(v).get("nbytes", 0) for one in sets for v in one.values())
    if nbytes * min(1.0, calls / len(sets)) >= 2 * session.info()["l2_bytes"]:
        return "cold"
    return "hot"


def workload_block(known):
    """The result of one workload (Workload) as the document holds it."""
    comparison, reference, student, kept = known.comparison or (None, [], [], [])
    result = {"name": known.name, "campaign": known.campaign, "ratio": None, "findings": known.findings, "notes": known.notes}
    if known.shape:
        result["shape"] = dict(known.shape)
    for key, samples, raw in (("ref", reference, comparison and comparison.reference),
                              ("student", student, comparison and comparison.student)):
        result[key] = _side_of(known, samples, kept, raw, known.per_call[key])
    if comparison:
        result.update(_comparison_block(comparison))
    result["window"] = known.window
    if known.pipelined_verdict:
        result["pipelined_verdict"] = known.pipelined_verdict
    if known.draws:
        result["draws"] = [list(draw) for draw in known.draws]
        result["fresh_ratio"] = known.fresh_ratio
    if known.findings:
        result["ratio"] = None  # a student that broke a rule has no ratio
    result.update({
        "calls_per_window": known.calls, "sets": known.sets, "set_bytes": known.set_bytes, "l2": known.l2,
        "inputs_refreshed": known.refreshed, "outputs_checked": known.checked, "sealed_ms": list(known.sealed),
        "student_drained_us": native.known(median(known.drained_ms) * 1e3), "ref_receives": known.receives["ref"],
        "student_receives": known.receives["student"], "student_threads": known.threads, "graph_captured": known.graphs})
    result.update({key: value for key, value in (("parent", known.parent), ("quiet", known.quiet),
                                                 ("output_error", known.output_error)) if value})
    if known.prep is not None:
        result["prep"] = known.prep
    return result


def _side_of(known, samples, kept, raw, per_call):
    used = [s for s, k in zip(samples, kept) if k]
    if known.window == "per_call" and raw:  # what was compared are per-call windows: there is no pipelined reading
        side = side_block([], used, None)
        side["per_call_ms"] = native.known(raw.ms)
    else:
        side = side_block(used, per_call, None, native.known(raw.ms) if raw else None)
    if raw:
        side.update({"sm_mhz": native.known(raw.sm_mhz), "temperature_c": native.known(raw.temperature_c)})
        if len(used) != len(samples):
            side["dropped_samples_ms"] = [s for s, k in zip(samples, kept) if not k]
    return side


def _comparison_block(comparison):
    ratio = native.known(comparison.ratio)
    smallest = native.known(comparison.smallest_difference)
    return {
        "ratio": ratio, "ratio_interval": [native.known(comparison.ratio_low), native.known(comparison.ratio_high)],
        "relative_error": native.known(comparison.rse), "aa_ratio": native.known(comparison.aa_ratio),
        "smallest_difference": smallest,
        "distinguishable": None if ratio is None or smallest is None else abs(ratio - 1) > smallest,
        "rounds": comparison.rounds, "rounds_dropped_throttled": comparison.dropped,
        "rounds_kept_throttled": comparison.kept_throttled, "stop": _STOPS[comparison.stop],
        "throttle": [name for bit, name in ((1, "power cap"), (2, "thermal"), (4, "hardware slowdown"))
                     if comparison.reasons & bit],
        "seconds": comparison.seconds}


def document(op, results, about, *, wanted, min_workloads, require_geometric_mean):
    """The eval document over the blocks of all workloads. about: "machine", "harness" and "evidence" blocks, "prep" (was
    there one) and "refused" (reasons that concern the whole run); wanted: how many workloads there ought to be."""
    campaign = next((r for r in results if r["campaign"]), results[0])
    windows = {r["window"] for r in results}
    window = "pipelined" if windows == {"pipelined"} else "per_call"
    if len(windows) > 1:  # never pooled: all fall back to the window that every workload has
        for result in results:
            both = result["ref"].get("per_call_ms"), result["student"].get("per_call_ms")
            result["ratio"] = both[0] / both[1] if None not in both and not result["findings"] else None
            result["window"] = "per_call"
    field = "pipelined_ms" if window == "pipelined" else "per_call_ms"
    performance = {"student_ms": campaign["student"].get(field), "ref_ms": campaign["ref"].get(field),
                   "ratio": geometric_mean([r["ratio"] for r in results]), "n_workloads": len(results),
                   "window": window, "workloads": results}
    refused = list(about["refused"])
    refused += _refusals(results, wanted, min_workloads if require_geometric_mean else 0)
    if refused:
        performance["ratio"] = None
        performance["refused"] = refused
    if about["prep"]:
        blocks = [dict(result.pop("prep"), name=result["name"]) for result in results]
        first = next((b for b, r in zip(blocks, results) if r["campaign"]), blocks[0])
        performance["prep"] = {"outputs": first["outputs"], "ms": first["ms"],
                               "mutated": sorted({n for b in blocks for n in b["mutated"]}), "workloads": blocks}
    made = {"schema_version": SCHEMA_VERSION, "op": op, "performance": performance, "machine": about["machine"],
            "harness": about["harness"]}
    if about["evidence"]:
        made["evidence"] = about["evidence"]
    return made


def _refusals(results, wanted, at_least):
    refused = []
    for result in results:
        for finding in result["findings"]:
            refused.append("%s: %s [%s]" % (result["name"], finding["message"], finding["code"]))
        if result["ratio"] is None and not result["findings"]:
            refused.append("%s: no ratio" % result["name"])
    if len(results) < wanted:
        refused.append("%d of %d workloads were measured" % (len(results), wanted))
    if len(results) < at_least:
        refused.append("a geometric mean needs at least %d workloads" % at_least)
    return refused


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def _text(document):
    return json.dumps(_finite(document), indent=1) + "\n"


def hand_over(document, out):
    """Gives the document to `plumbline run`, where that waits for it at a descriptor; else writes it to `out`."""
    file = os.environ.get("PLUMBLINE_EVAL_FD", "")
    if not file.isdigit():
        return write(document, os.environ.get("PLUMBLINE_EVAL_OUT") or out)
    data = _text(document).encode()
    os.lseek(int(file), 0, os.SEEK_SET)
    os.ftruncate(int(file), 0)
    while data:
        data = data[os.write(int(file), data):]
    return None


def write(document, path):
    """Writes JSON beside `path` and renames it there; nothing with path None."""
    if not path:
        return
    text = _text(document)
    directory = os.path.dirname(os.path.abspath(path))
    os.makedirs(directory, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=directory, prefix=".eval")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def host():
    """The host in a word: no name, no path."""
    return "%s %s, Python %s" % (platform.system(), platform.machine(), platform.python_version())
