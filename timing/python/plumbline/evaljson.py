# SPDX-License-Identifier: Apache-2.0
"""The eval JSON (docs/schema/eval.schema.json) and the few statistics that it needs."""

import json
import math
import os
import platform
import tempfile

from . import _native as native
from . import machine as machine_module

SCHEMA_VERSION = 1
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


def workload_block(run, block):
    """The result of one workload from its measurements (measure._WorkloadRun)."""
    case, options = run.case, run.options
    comparison, reference, student, kept = block["comparison"] or (None, [], [], [])
    findings = sorted(case.findings.values(), key=lambda f: f["code"])
    result = {"name": run.workload.name, "campaign": bool(run.workload.campaign), "ratio": None,
              "findings": findings, "notes": run.notes}
    if run.workload.shape:
        result["shape"] = dict(run.workload.shape)
    use = [r for r, k in zip(reference, kept) if k], [s for s, k in zip(student, kept) if k]
    for key, samples, all_samples, raw in (("ref", use[0], reference, comparison and comparison.reference),
                                           ("student", use[1], student, comparison and comparison.student)):
        single, kind = block["per_call"][key], run.kind
        if kind == "per_call" and raw:  # what was compared are per-call windows: there is no pipelined reading
            side = side_block([], samples, None)
            side["per_call_ms"] = native.known(raw.ms)
        else:
            side = side_block(samples, single, None, native.known(raw.ms) if raw else None)
        if raw:
            side.update({"sm_mhz": native.known(raw.sm_mhz), "temperature_c": native.known(raw.temperature_c)})
            if len(all_samples) != len(samples):
                side["dropped_samples_ms"] = [s for s, k in zip(all_samples, kept) if not k]
        result[key] = side
    if comparison:
        result.update(_comparison_block(comparison))
    result["window"] = run.kind
    if run.workload.draws:
        result["draws"] = [list(draw) for draw in run.workload.draws]
        result["fresh_ratio"] = block.get("fresh_ratio")
    if findings:
        result["ratio"] = None  # a student that broke a rule has no ratio
    result.update({
        "calls_per_window": getattr(run, "calls", None), "sets": case.sets, "set_bytes": case.set_bytes,
        "l2": "hot" if not options["cold"] else "cold" if case.rotates_cold else
              "flushed before the window; the rotation is smaller than twice L2",
        "inputs_refreshed": "judged draws" if run.workload.draws else
                            "every window" if run.refresh_every else "sealed windows",
        "outputs_checked": case.checked, "sealed_ms": block["sealed"],
        "student_drained_us": native.known(median(run.drained_ms) * 1e3), "student_receives": case.student_receives,
        "student_threads": max((t for t in run.threads if t), default=None)})
    return result


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


def document(op, results, bench, min_workloads, require_geometric_mean):
    """The eval document over all workloads."""
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
    refused = _refusals(results, bench, min_workloads, require_geometric_mean)
    if refused:
        performance["ratio"] = None
        performance["refused"] = refused
    if bench.prep is not None:
        blocks = [dict(result.pop("prep"), name=result["name"]) for result in results]
        first = next((b for b, r in zip(blocks, results) if r["campaign"]), blocks[0])
        performance["prep"] = {"outputs": first["outputs"], "ms": first["ms"],
                               "mutated": sorted({n for b in blocks for n in b["mutated"]}), "workloads": blocks}
    return {"schema_version": SCHEMA_VERSION, "op": op, "performance": performance,
            "machine": machine_module.describe(bench.session, bench.backend),
            "harness": {"name": "plumbline", "version": native.version(),
                        "isolation": "process" if bench.isolated else "none", "order": "ABBA",
                        "noise": bench.options["noise"], "time_limit_s": bench.options["time_limit_s"],
                        "cold": bench.options["cold"], "overhead": bench.overhead, "notes": bench.notes}}


def _refusals(results, bench, min_workloads, require):
    refused = []
    for result in results:
        for finding in result["findings"]:
            refused.append("%s: %s [%s]" % (result["name"], finding["message"], finding["code"]))
        if result["ratio"] is None and not result["findings"]:
            refused.append("%s: no ratio" % result["name"])
    if len(results) < len(bench.workloads):
        refused.append("%d of %d workloads were measured" % (len(results), len(bench.workloads)))
    if require and len(results) < min_workloads:
        refused.append("a geometric mean needs at least %d workloads" % min_workloads)
    return refused


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def write(document, path):
    """Writes JSON beside `path` and renames it there; nothing with path None."""
    if not path:
        return
    text = json.dumps(_finite(document), indent=1) + "\n"
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
