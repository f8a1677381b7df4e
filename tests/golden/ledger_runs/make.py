# Twenty-four runs of two cards as an export: a step of 6 % at the 13th, another driver, a corrected run, a refused one.
import hashlib
import json

print(json.dumps({"plumbline_ledger": 1}))
seed = 7


def noise():
    global seed
    seed = (seed * 1103515245 + 12345) % 2**31
    return 1 + (seed / 2**31 - 0.5) * 0.006


def document(text):
    name = hashlib.sha256(text.encode()).hexdigest()
    print(json.dumps({"document": name, "text": text}))
    return name


def table(main_ns, extra):
    kernels = [{"name": "scan_rows", "launches": 10, "time_ns": main_ns * 10}, {"name": "carry", "launches": 10, "time_ns": 41000}]
    if extra:
        kernels.append({"name": "copy_back", "launches": 10, "time_ns": 90000})
    return document(json.dumps({"schema": "plumbline-table/1", "source": "recorder", "calls": 10, "kernels": kernels}))


def run(number, outcome="fail-gate", driver="580.95", **more):
    record = {"ident": "%012x%020x" % (1764000000000 + number, number), "card": "scan", "made_at": "2025-11-%02dT01:02:03Z" % (number + 1),
              "name": "it%02d" % number, "outcome": outcome, "note": "", "corrects": "", "code": {}, "parts": {}, "readings": [],
              "series": {"gpu": "NVIDIA H200", "driver": driver, "window": "pipelined", "harness": "plumbline 0.1.0", "boundary": "b" * 64}}
    if outcome in ("pass", "fail-gate", "within-noise"):
        ratio = (0.85 if number < 13 else 0.901) * noise()
        record.update(gate=1.0, raw_ratio=ratio, raw_low=ratio * 0.997, raw_high=ratio * 1.003, credited_ratio=min(1.0, ratio * 1.06),
                      student_ms=0.3 / ratio, ref_ms=0.3,
                      readings=[{"workload": "wide", "shape": "", "student_ms": 0.3 / ratio, "ref_ms": 0.3, "ratio": ratio, "noise": 0.002},
                                {"workload": "tall", "shape": "", "student_ms": 0.2, "ref_ms": 0.15, "ratio": 0.75, "noise": 0.003}])
        record["parts"] = {"student_table": table(300000 / ratio, number < 13), "verdict": document('{"verdict":%d}' % number)}
        record["code"] = {"kernel.py": document("# the student, %d\n" % (number // 4)), "README.md": document("# a card\n")}
    record.update(more)
    print(json.dumps({"run": record}))
    return record["ident"]


run(0, driver="570.10")
for number in range(1, 20):
    first = run(number)
run(20, corrects=first, note="another job was on the GPU")
run(21)
run(22, outcome="refused", series={"gpu": "", "driver": "", "window": "", "harness": "", "boundary": ""})
run(23, card="sort", outcome="pass")
