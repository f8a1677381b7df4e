#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing wrong passes quietly. One row a case: its name, what is done to an honest comparison, and the code that must be among the
reasons. A code in FAILS must make confirm exit 1 (or 2 where it says so). Usage: hostile_test.py PLUMBLINE [--json-only] [NAME...]"""
import copy
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

import world

FAILS = {"eval-samples-contradict", "eval-workload-repeated", "eval-window-unknown", "eval-finding", "eval-other-card",
         "eval-receives-undeclared", "eval-workload-missing", "eval-ratio-mismatch", "eval-workload-count", "eval-mixed-window",
         "eval-campaign", "eval-sample-count", "eval-refused", "eval-reading-missing", "gate-not-reached", "prep-mutated"}
CASES = []


def case(name, code, **made):
    """Registers a change of a World; `made` are its arguments."""
    def keep(change):
        CASES.append((name, code, made, change))
        return change
    return keep


def workloads(w):
    return w.eval["performance"]["workloads"]


def scale_side(w, index, side, factor):
    """All times of one side, so that nothing contradicts; ratios follow."""
    block, performance = workloads(w)[index][side], w.eval["performance"]
    for key in ("pipelined_ms", "per_call_ms", "median_ms", "host_tax_ms"):
        if block.get(key) is not None:
            block[key] *= factor
    for key in ("samples_ms", "per_call_samples_ms", "interval_ms"):
        block[key] = [v * factor for v in block.get(key, [])]
    restate(w)
    for name in ("student", "ref"):
        performance[name + "_ms"] = workloads(w)[0][name]["pipelined_ms"]


def restate(w):
    for each in workloads(w):
        each["ratio"] = each["ref"]["pipelined_ms"] / each["student"]["pipelined_ms"]
    w.eval["performance"]["ratio"] = world.geomean([each["ratio"] for each in workloads(w)])


def resample(w, index, side, values):
    """Other samples of one side, and the readings that follow from them."""
    block = workloads(w)[index][side]
    block.update({"samples_ms": values, "pipelined_ms": world.median(values), "median_ms": world.median(values),
                  "interval_ms": [min(values), max(values)]})
    restate(w)
    if index == 0:
        w.eval["performance"][side + "_ms"] = block["pipelined_ms"]


def each(key, value, side=None):
    def change(w):
        for one in workloads(w):
            (one[side] if side else one)[key] = value
    return change


def one(key, value, side=None, index=1):
    def change(w):
        (workloads(w)[index][side] if side else workloads(w)[index])[key] = value
    return change


def table(**values):
    return lambda w: w.student_table.update(values)


def add(name, code, change, **made):
    CASES.append((name, code, made, change))


# ---- an eval that agrees with itself
@case("student_samples_doubled", "eval-samples-contradict")
def _(w):
    block = workloads(w)[0]["student"]
    block["samples_ms"] = [v * 2 for v in block["samples_ms"]]


@case("reference_samples_a_tenth", "eval-samples-contradict")
def _(w):
    block = workloads(w)[2]["ref"]
    block["samples_ms"] = [v / 10 for v in block["samples_ms"]]


@case("reading_below_every_sample", "eval-samples-contradict")
def _(w):
    block = workloads(w)[1]["student"]
    block["pipelined_ms"] = min(block["samples_ms"]) * 0.97
    restate(w)


@case("per_call_samples_of_another", "eval-samples-contradict")
def _(w):
    workloads(w)[1]["student"]["per_call_samples_ms"] = [v * 3 for v in workloads(w)[1]["student"]["per_call_samples_ms"]]


@case("median_of_other_samples", "eval-samples-contradict")
def _(w):
    workloads(w)[1]["ref"]["median_ms"] *= 1.04


@case("samples_of_a_hand_script", "eval-samples-contradict", style="hand")
def _(w):
    workloads(w)[0]["ref"]["samples_ms"] = [v * 0.8 for v in workloads(w)[0]["ref"]["samples_ms"]]


for share in (1.0006, 1.004, 1.2, 0.97):
    add("ratio_times_%g" % share, "eval-ratio-mismatch",
        lambda w, share=share: w.eval["performance"].update(ratio=w.eval["performance"]["ratio"] * share))
for share in (1.002, 1.009):
    add("workload_ratio_times_%g" % share, "eval-ratio-mismatch",
        lambda w, share=share: workloads(w)[1].update(ratio=workloads(w)[1]["ratio"] * share))


@case("arithmetic_mean", "eval-ratio-mismatch")
def _(w):
    scale_side(w, 1, "ref", 3)
    w.eval["performance"]["ratio"] = sum(e["ratio"] for e in workloads(w)) / 3


@case("rounded_over_the_gate", "eval-ratio-mismatch", style="hand")
def _(w):
    for one_of in workloads(w):
        factor = 0.9997 / one_of["ratio"]
        one_of["ref"]["samples_ms"] = [v * factor for v in one_of["ref"]["samples_ms"]]
        one_of["ref"]["pipelined_ms"] *= factor
    restate(w)
    w.eval["performance"].update(ratio=1.0, ref_ms=workloads(w)[0]["ref"]["pipelined_ms"])


@case("best_against_worst", "eval-ratio-outside-samples", style="hand")
def _(w):
    for one_of in workloads(w):
        one_of["student"]["pipelined_ms"] = min(one_of["student"]["samples_ms"])
        one_of["ref"]["pipelined_ms"] = max(one_of["ref"]["samples_ms"]) 
    restate(w)
    first = workloads(w)[0]
    w.eval["performance"].update(student_ms=first["student"]["pipelined_ms"], ref_ms=first["ref"]["pipelined_ms"])


add("more_claimed_than_listed", "eval-workload-count", lambda w: w.eval["performance"].update(n_workloads=5))
add("none_listed", "eval-workload-count", lambda w: w.eval["performance"].update(workloads=[]))


@case("one_dropped", "eval-workload-count")
def _(w):
    workloads(w).pop()


@case("same_name", "eval-workload-repeated")
def _(w):
    workloads(w)[2]["name"] = workloads(w)[0]["name"]


@case("same_shape_another_name", "eval-workload-repeated")
def _(w):
    workloads(w)[1].update(shape=workloads(w)[0]["shape"], set_bytes=workloads(w)[0]["set_bytes"])


@case("same_samples_another_shape", "eval-workload-repeated")
def _(w):
    for side in ("student", "ref"):
        workloads(w)[1][side] = copy.deepcopy(workloads(w)[0][side])
    restate(w)


add("finding_with_a_ratio", "eval-finding", one("findings", [{"code": "reads-clock", "message": "the clock was called 40 times"}]))
add("finding_without_words", "eval-finding", one("findings", [{"code": "late-work"}], index=0))
add("refused_with_a_ratio", "eval-refused", lambda w: w.eval["performance"].update(refused=["two of three were measured"]))
add("window_of_another_kind", "eval-window-unknown", lambda w: w.eval["performance"].update(window="steady"))
add("window_missing", "eval-window-unknown", lambda w: w.eval["performance"].pop("window"))
add("one_read_per_call", "eval-mixed-window", one("window", "per_call", index=2))
add("one_read_pipelined", "eval-mixed-window", one("window", "pipelined", index=2), style="plumbline_per_call")
add("campaign_of_another", "eval-campaign", lambda w: w.eval["performance"].update(student_ms=0.5))
add("campaign_a_little_less", "eval-campaign",
    lambda w: w.eval["performance"].update(student_ms=w.eval["performance"]["student_ms"] * 0.998))


@case("fewer_samples_of_one_side", "eval-sample-count", style="hand")
def _(w):
    block = workloads(w)[1]["student"]
    block["samples_ms"] = block["samples_ms"] + [block["pipelined_ms"]]


@case("bench_names_one_more", "eval-workload-missing")
def _(w):
    names = [e["name"] for e in workloads(w)] + ["t_hard"]
    w.files["eval/bench.py"] = "measure_windows_workloads([%s], student='k:r', reference='r:r')\n" % ", ".join(
        "Workload(%r, make)" % n for n in names)


# ---- an eval that can be true
add("under_the_launch_floor", "eval-under-floor", lambda w: scale_side(w, 0, "student", 1e-4))
add("both_under_the_floor", "eval-under-floor", lambda w: [scale_side(w, i, s, 1e-4) for i in range(3) for s in ("student", "ref")])
add("faster_than_memory", "eval-over-bandwidth", lambda w: scale_side(w, 1, "student", 0.2))
add("reference_faster_than_memory", "eval-over-bandwidth", lambda w: scale_side(w, 1, "ref", 0.1))
add("faster_than_memory_on_an_a100", "eval-over-bandwidth", lambda w: scale_side(w, 0, "student", 0.2), gpu="NVIDIA A100-SXM4-80GB")


def of(shape):
    def change(w):
        base = workloads(w)[1]["student"]["pipelined_ms"]
        rng = random.Random(3)
        resample(w, 1, "student", [base * v for v in shape(rng)])
        workloads(w)[1]["ref"]["samples_ms"] = world.samples(rng, workloads(w)[1]["ref"]["pipelined_ms"], 16, 0.001, 0)
        resample(w, 1, "ref", workloads(w)[1]["ref"]["samples_ms"])
    return change


add("constant_samples", "samples-constant", of(lambda rng: [1.0] * 16))
add("rising_samples", "samples-trend", of(lambda rng: [1 + 0.01 * i + rng.gauss(0, 0.001) for i in range(16)]))
add("falling_samples", "samples-trend", of(lambda rng: [1.3 - 0.02 * i + rng.gauss(0, 0.002) for i in range(16)]))
add("two_peaks", "samples-two-peaks", of(lambda rng: [(1.0 if i % 2 else 1.4) + rng.gauss(0, 0.002) for i in range(16)]))
add("two_peaks_five_of_sixteen", "samples-two-peaks", of(lambda rng: [(1.3 if i % 3 == 1 else 1.0) + rng.gauss(0, 0.002) for i in range(16)]))


@case("one_side_is_the_other_scaled", "samples-scaled")
def _(w):
    resample(w, 1, "ref", [v * 1.37 for v in workloads(w)[1]["student"]["samples_ms"]])


add("clocks_apart", "eval-clocks-apart", each("sm_mhz", 900.0, "ref"))
add("student_clocked_down", "eval-clocks-apart", each("sm_mhz", 700.0, "student"))
add("another_temperature", "eval-temperature", one("temperature_c", 84.0, "ref"))
add("hot_l2", "eval-warm", each("l2", "hot"))
add("l2_not_stated", "eval-warm", lambda w: [e.pop("l2") for e in workloads(w)])
add("hot_l2_of_a_hand_script", "eval-warm", lambda w: w.eval["harness"].update(l2="warm"), style="hand")
add("in_process", "eval-not-isolated", lambda w: w.eval["harness"].update(isolation="none"))
add("nothing_checked", "eval-unchecked", one("outputs_checked", 0))
add("checks_not_stated", "eval-unchecked", lambda w: [e.pop("outputs_checked") for e in workloads(w)])
add("time_limit", "eval-stopped", lambda w: workloads(w)[2].update(stop="time limit", relative_error=0.08))
add("error_over_what_was_asked", "eval-stopped", one("relative_error", 0.03))
add("work_after_the_window", "eval-drained", one("student_drained_us", 400.0))
add("throttled_rounds_kept", "eval-throttled", one("rounds_kept_throttled", 3))
add("throttle_reason", "eval-throttled", one("throttle", ["thermal"]))
add("aa_wider_than_stated", "eval-aa-spread", one("aa_ratio", 1.15))
add("aa_wider_than_the_claim", "eval-aa-spread", each("aa_ratio", 0.3), style="hand")
add("not_distinguishable", "eval-aa-spread", each("distinguishable", False))
add("distinguishable_by_word_only", "eval-aa-spread", each("smallest_difference", 3.0))


@case("slower_when_sealed", "eval-sealed")
def _(w):
    workloads(w)[1]["sealed_ms"] = [3 * workloads(w)[1]["student"]["pipelined_ms"]] * 2


@case("slower_reference_afterwards", "eval-not-quiet")
def _(w):
    workloads(w)[1]["quiet"] = {"before_ms": 0.05, "after_ms": 0.2}


@case("parent_clock_reads_less", "eval-parent-clock")
def _(w):
    block = workloads(w)[1]
    block["parent"] = {"ref_ms": block["ref"]["pipelined_ms"] * 1.1, "student_ms": block["student"]["pipelined_ms"] * 0.5}


add("outputs_less_exact", "eval-less-exact", one("output_error", {"student": 0.04, "reference": 0.0004}))


@case("opposite_sides_of_the_gate", "windows-disagree")
def _(w):
    for e in workloads(w):
        fast = [v * 0.4 for v in e["student"]["per_call_samples_ms"]] if w.eval["performance"]["ratio"] < 1 else \
            [v * 4 for v in e["student"]["per_call_samples_ms"]]
        e["student"].update(per_call_samples_ms=fast, per_call_ms=world.median(fast))


# ---- the chain
add("student_received_more", "eval-receives-undeclared", each("student_receives", ["x", "w", "answer"]))
add("reference_received_more", "eval-receives-undeclared", each("ref_receives", ["x", "w", "scale"]))
add("student_received_less", "eval-receives-less", each("student_receives", ["x"]))


def origin(**values):
    def change(w):
        text = world.contract_text(w.contract)
        files = {"window.toml": hashlib.sha256(text.encode()).hexdigest()}
        precision = {"float32_matmul_precision": "highest", "allow_tf32_matmul": False}
        w.eval["evidence"] = {"card": w.card, "harness_version": "0.1.0", "files": files,
                              "precision": {"ref": dict(precision), "student": dict(precision)}}
        for path, value in values.items():
            where = w.eval["evidence"]
            *steps, last = path.split("__")
            for step in steps:
                where = where[step]
            where[last] = value
    return change


add("recorded_for_another_card", "eval-other-card", lambda w: (origin(card="softmax")(w), w.eval["evidence"]["files"].clear()))
def bench_changed(w):
    origin()(w)
    w.files["eval/bench.py"] = "x = 1\n"
    w.eval["evidence"]["files"]["eval/bench.py"] = "0" * 64


add("bench_changed_since", "evidence-changed", bench_changed)
add("kernel_gone", "evidence-changed", lambda w: (origin()(w), w.eval["evidence"]["files"].update({"kernel.py": "1" * 64})))
add("tf32_on_one_side", "precision-differs", origin(precision__student__allow_tf32_matmul=True))
add("matmul_precision_differs", "precision-differs", origin(precision__ref__float32_matmul_precision="medium"))
add("graph_of_the_student", "graph-one-sided", each("graph_captured", {"ref": False, "student": True}))
add("op_of_another", "eval-op-differs", lambda w: w.eval.update(op="softmax_backward"))

# ---- what a document says and nobody would read
add("findings_as_text", "eval-finding", one("findings", "wrong-output"))
add("findings_as_an_object", "eval-finding", one("findings", {"code": "wrong-output", "message": "row 3"}))
add("findings_at_the_top", "eval-finding", lambda w: w.eval.update(findings=[{"code": "wrong-output", "message": "row 3"}]))
add("findings_of_a_side", "eval-finding", one("findings", [{"code": "wrong-output"}], "student"))
add("an_error", "eval-finding", lambda w: w.eval.update(error="boom"))
add("a_workload_refused", "eval-finding", one("refused", ["out of memory"]))
add("not_correct", "eval-finding", lambda w: w.eval.update(correctness={"passed": False}))
add("not_correct_in_one_word", "eval-finding", lambda w: w.eval["performance"].update(correct=False))
add("numbers_as_text", "eval-fact-unread", one("relative_error", "20 %"))
add("a_flag_as_text", "eval-fact-unread", each("distinguishable", "false"))
add("graphs_as_words", "eval-fact-unread", each("graph_captured", {"ref": "no", "student": "yes"}))
add("a_clock_as_text", "eval-fact-unread", one("sm_mhz", "900", "ref"))
add("no_aa", "eval-fact-absent", lambda w: [e.pop("aa_ratio") for e in workloads(w)])
add("no_isolation", "eval-fact-absent", lambda w: w.eval["harness"].pop("isolation"))
add("no_gpu", "eval-fact-absent", lambda w: w.eval["machine"].pop("gpu"))
add("receives_by_name", "eval-receives-undeclared", each("student_receives", {"x": 1, "w": 2, "answer": 3}))
add("no_samples", "samples-few", lambda w: [e[s].pop("samples_ms") for e in workloads(w) for s in ("student", "ref")])
add("two_samples", "samples-few", lambda w: [resample(w, 1, s, [workloads(w)[1][s]["pipelined_ms"] * f for f in (0.999, 1.001)])
                                            for s in ("student", "ref")])
add("in_a_thread", "eval-not-isolated", lambda w: w.eval["harness"].update(isolation="thread"))
add("one_side_first", "eval-order", lambda w: w.eval["harness"].update(order="student first"))
add("warm_but_said_cold", "eval-warm", each("l2", "hot, not cold"))
add("warm_was_asked_for", "eval-warm", lambda w: w.eval["harness"].update(cold=False))
add("stopped_by_hand", "eval-stopped", one("stop", "interrupted"))
add("noise_of_a_half_was_asked_for", "eval-stopped",
    lambda w: (w.eval["harness"].update(noise=0.5), workloads(w)[1].update(relative_error=0.4)))
add("most_rounds_dropped", "eval-throttled", one("rounds_dropped_throttled", 90))
add("graph_of_one_side_not_said", "graph-one-sided", each("graph_captured", {"student": True}))
add("a_switch_of_one_side", "precision-differs", origin(precision__student__autocast="bf16"))
add("another_harness_version", "evidence-changed", origin(harness_version="0.0.9"))
add("no_op", "eval-op-differs", lambda w: w.eval.update(op=""))


@case("student_at_its_best", "eval-ratio-outside-samples")
def _(w):
    block = workloads(w)[1]["student"]
    block["pipelined_ms"] = min(block["samples_ms"])
    restate(w)


add("interval_of_another_ratio", "eval-ratio-outside-samples", one("ratio_interval", [4.0, 4.1]))
add("interval_turned_over", "eval-ratio-outside-samples", one("ratio_interval", [9.0, 0.1]))


@case("one_shape_other_bytes", "eval-shape-repeated")
def _(w):
    workloads(w)[1].update(shape={k: float(v) for k, v in workloads(w)[0]["shape"].items()})


add("no_floor_stated", "eval-under-floor", lambda w: (w.eval["harness"].pop("overhead"), scale_side(w, 0, "student", 1e-4)))


@case("per_call_faster_than_memory", "eval-over-bandwidth")
def _(w):
    block = workloads(w)[1]["student"]
    block["per_call_samples_ms"] = [v * 0.1 for v in block["per_call_samples_ms"]]
    block["per_call_ms"] = world.median(block["per_call_samples_ms"])


# ---- tables
add("one_table_for_both", "tables-identical", lambda w: setattr(w, "student_table", copy.deepcopy(w.ref_table)))
add("calls_not_stated_and_nothing_priced", "calls-unknown", lambda w: w.student_table.pop("calls"))
add("rows_dropped", "table-lossy", table(account={"rows": 9, "kept": 3, "dropped": 6, "ignored": 0}))
add("two_tools", "tables-tools-differ", table(source="nsys-sqlite"))
add("two_gpus", "device-differs", table(device="NVIDIA L4"))
add("a_thousandth_of_the_window", "unreconciled", lambda w: [k.update(time_ns=k["time_ns"] / 1000) for k in w.student_table["kernels"]])
add("three_windows", "unreconciled", lambda w: [k.update(time_ns=k["time_ns"] * 3) for k in w.ref_table["kernels"]])
add("a_launch_too_many", "launches-uneven",
    lambda w: (w.student_table.update(calls=2), [k.update(launches=4) for k in w.student_table["kernels"]],
               w.student_table["kernels"][0].update(launches=5)))
add("records_lost", "table-lossy", table(lossy=True))


@case("calls_unequal", "tables-calls-differ")
def _(w):
    for t, calls in ((w.student_table, 4), (w.ref_table, 2)):
        for kernel in t["kernels"]:
            kernel["time_ns"] *= calls / t["calls"]
            kernel["launches"] = calls
        t["calls"] = calls


@case("calls_not_stated", "calls-unknown", contract="student_pays")
def _(w):
    del w.student_table["calls"]


@case("priced_in_no_time", "priced-no-time", contract="student_pays")
def _(w):
    w.student_table["kernels"][2]["time_ns"] = 0


@case("regex_takes_everything", "regex-takes-most", contract="student_pays")
def _(w):
    w.files["window.toml"] = world.contract_text("student_pays").replace("rebuild_lse", "main_part|rebuild")


@case("regex_takes_the_largest", "regex-takes-most", contract="ref_pays")
def _(w):
    w.eval["performance"]["prep"] = w.prep()
    w.files["window.toml"] = world.contract_text("ref_pays").replace("lay_out", "main_part")


@case("prep_changed_in_the_call", "prep-mutated")
def _(w):
    w.files["window.toml"] = (
        'schema_version = 1\n[reference]\nwindow = "c"\ninputs = ["x", "w", "t"]\noutputs = ["y"]\n[student]\nwindow = "c"\n'
        'inputs = ["x", "w", "t"]\noutputs = ["y"]\n[[asymmetry]]\nref_input = "t"\nclass = "symmetrize"\nproduced_by = "prep"\n'
        'shape = [4]\ndtype = "fp32"\n')
    made = {"t": {"shape": [4], "dtype": "torch.float32"}}
    w.eval["performance"]["prep"] = {"outputs": made, "mutated": [], "ms": 0.1, "workloads": [
        {"name": e["name"], "outputs": made, "mutated": ["t"] if i == 1 else [], "ms": 0.1} for i, e in enumerate(workloads(w))]}
    for e in workloads(w):
        e.update(student_receives=["x", "w", "t"], ref_receives=["x", "w", "t"])


def plain(text):
    """Without Markdown's escapes, the cuts of lines, and the case of a sentence's first letter."""
    return " ".join(text.replace("\\", "").split()).lower()


def main():
    # --json-only, under the sanitizers: the other build reads the same in Markdown and on the terminal.
    plumbline, wanted, failures = sys.argv[1], [word for word in sys.argv[2:] if word and word != "--json-only"], []
    ways = [] if "--json-only" in sys.argv else [["--md"], []]
    with tempfile.TemporaryDirectory() as root:
        for number, (name, code, made, change) in enumerate(CASES):
            if wanted and name not in wanted:
                continue
            w = world.World(1000 + number, **made)
            change(w)
            words = [plumbline, "confirm", w.write(root), "--run", "r1"]
            done = subprocess.run(words + ["--json"], capture_output=True, text=True, timeout=60)
            try:
                document = json.loads(done.stdout)
            except ValueError:
                failures.append("%s: no document, exit %d: %s" % (name, done.returncode, done.stderr[-200:]))
                continue
            found = [r for r in document["reasons"] if r["code"] == code]
            if not found:
                failures.append("%s: no %s, but %s" % (name, code, [r["code"] for r in document["reasons"]]))
            elif not all(r["fix"] for r in found):
                failures.append("%s: %s has no fix" % (name, code))
            elif code in FAILS and (done.returncode != 1 or document["ok"]):
                failures.append("%s: exit %d" % (name, done.returncode))
            for way in ways:  # what --json holds is said to people too, with the same end
                page = subprocess.run(words + way, capture_output=True, text=True, timeout=60, env=dict(os.environ, COLUMNS="400"))
                text = plain(page.stdout + page.stderr)
                unsaid = [r["code"] for r in document["reasons"] if plain(r["message"]) not in text]
                if unsaid or page.returncode != done.returncode:
                    failures.append("%s %s: exit %d, not said: %s" % (name, way, page.returncode, unsaid))
    print("\n".join(failures + ["%d hostile comparisons, %d pass quietly" % (len(CASES), len(failures))]))
    return 1 if failures or len(CASES) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
