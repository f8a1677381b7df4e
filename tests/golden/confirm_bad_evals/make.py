"""Variants of good.json, each with one thing wrong."""
import copy
import json

GOOD = json.load(open("good.json"))


def write(name, change):
    eval_ = copy.deepcopy(GOOD)
    change(eval_, eval_["performance"], eval_["performance"]["workloads"])
    open(name + ".json", "w").write(json.dumps(eval_, indent=1))


write("null_reading", lambda e, p, w: p.update(student_ms=None))
write("zero_workload", lambda e, p, w: (w[1]["ref"].update(pipelined_ms=0), w[1].update(ratio=0)))
write("negative", lambda e, p, w: w[2]["student"].update(pipelined_ms=-0.001))
write("nan", lambda e, p, w: w[0]["ref"].update(pipelined_ms=float("nan")))
write("text", lambda e, p, w: p.update(ref_ms="0.11 ms"))
write("null_sample", lambda e, p, w: w[0]["student"]["samples_ms"].append(None))
write("sample_count", lambda e, p, w: w[0]["student"]["samples_ms"].append(0.08))
write("mixed_window", lambda e, p, w: w[1]["student"].pop("pipelined_ms"))
write("mixed_timer", lambda e, p, w: (w[1]["student"].update(timer="host"), w[1]["ref"].update(timer="events")))
write("per_call_on_top", lambda e, p, w: p.update(student_ms=w[0]["student"]["per_call_ms"]))
write("two_workloads", lambda e, p, w: (w.pop(), p.update(n_workloads=2)))
write("no_count", lambda e, p, w: p.pop("n_workloads"))
write("arithmetic_mean", lambda e, p, w: p.update(ratio=1.6))
write("milliseconds_x1000", lambda e, p, w: p.update(student_ms=80.0))
write("refused", lambda e, p, w: p.update(ratio=None, refused=["a: the student changed the clock [clock-changed]"]))
write("one_after_the_other", lambda e, p, w: e.update(harness={"order": "AABB"}))
write("within_the_noise", lambda e, p, w: w[0].update(aa_ratio=1.5))
write("no_performance", lambda e, p, w: e.pop("performance"))
write("newer", lambda e, p, w: e.update(schema_version=2))
