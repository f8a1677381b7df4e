# Runs whose workloads have shapes: GEMMs in two runs, attention, another GPU, a per-call window, and notes that a spreadsheet would run.
import hashlib
import json

SERIES = {"gpu": "NVIDIA H200", "driver": "580.95", "window": "pipelined", "harness": "plumbline 0.1.0", "boundary": "b"}
count = 0


def document(text):
    name = hashlib.sha256(text.encode()).hexdigest()
    print(json.dumps({"document": name, "text": text}))
    return name


def run(card, readings, table=None, note="", **series):
    global count
    count += 1
    workloads = [{"workload": "w%d" % i, "shape": json.dumps(shape) if shape else "", "student_ms": student, "ref_ms": ref,
                  "ratio": ref / student, "noise": 0.001} for i, (shape, student, ref) in enumerate(readings)]
    print(json.dumps({"run": {
        "ident": "%032x" % count, "card": card, "made_at": "2026-01-%02dT01:02:03Z" % count, "name": "r%d" % count, "outcome": "fail-gate",
        "note": note, "corrects": "", "gate": 2.0, "raw_ratio": 0.9, "student_ms": readings[0][1], "ref_ms": readings[0][2],
        "code": {"kernel.py": document("# %s" % card), "reference.py": document("# reference of %s" % card)},
        "parts": {"ref_table": document(json.dumps(table))} if table else {}, "readings": workloads, "series": dict(SERIES, **series)}}))


def table(*names):
    return {"schema": "plumbline-table/1", "source": "recorder", "calls": 2,
            "kernels": [{"name": name, "launches": 2, "time_ns": 80000} for name in names]}


SMALL, LARGE = {"m": 512, "n": 4096, "k": 4096}, {"m": 8192, "n": 4096, "k": 4096}
ATTENTION = {"batch": 2, "heads": 16, "kv_heads": 4, "head_dim": 128, "q_len": 2048, "kv_len": 2048, "causal": True, "window": -1}
run("gemms", [(SMALL, 0.05, 0.04), (LARGE, 0.5, 0.4)], table("nvjet_tst_128x256"))
run("gemms", [(SMALL, 0.052, 0.042), (LARGE, 0.51, 0.41), ({"m": 1, "strange": [1]}, 1.0, 1.0)], table("nvjet_tst_128x256"))
run("gemms", [(LARGE, 0.3, 0.2)], gpu="NVIDIA B200")
run("gemms", [(SMALL, 0.3, 0.2)], window="per_call")
run("attention", [(ATTENTION, 0.2, 0.1)], table("a", "b"))
run("plain", [(None, 0.2, 0.1)], note="=HYPERLINK(\"http://example.invalid\")")
run("plain", [(None, 0.2, 0.1)], note="-1")
run("plain", [(None, 0.2, 0.1)], note="-1+cmd|' /C calc'!A0")
run("plain", [(None, 0.2, 0.1)], note="\tSUM(1)")
