# SPDX-License-Identifier: Apache-2.0
"""Readings of one callable and of two sides, written as the eval JSON."""

import inspect
import math
import os
import sys
import time

from . import _native as native
from . import backends, evaljson, phase, turn
from .bench import Bench
from .workload_run import PER_CALL_COUNT


def measure_windows(fn, *, prep=None, inputs=None, calls=None, noise=0.005, time_limit_s=10.0, cold=True, session=None,
                    out=None):
    """Reads one callable in this process: both windows, host tax, interval, clock and temperature.

    fn: called without arguments, or with `inputs` (a list of dicts, rotated). prep: called once before, outside every
    window, with the first set of inputs (or nothing); its time is reported and what it returns (a dict) is passed on.
    calls: calls in a pipelined window (default: about 2 ms worth, 4 to 200). Returns a dict; times in ms; what could
    not be read is None with the reason in "notes". `out` writes it as JSON.
    """
    backend = None
    if session is None:
        backend = backends.choose()
        session = backend.open_session()
    report, sets = {"notes": []}, [dict(one) for one in inputs] if inputs else [{}]
    if prep is not None:
        report["prep"] = _run_prep(session, prep, sets)
    callables = [_bind(fn, one) for one in sets]
    for index in range(3):
        callables[index % len(callables)]()
    session.drain()
    quick = min(r.ms for r in session.per_call(callables, 0, 3, cold))
    calls = calls or max(4, min(200, math.ceil(2.0 / max(quick, 1e-3))))
    started, samples, readings, overhead = time.monotonic(), [], [], session.overhead()
    stop = "noise"
    while True:
        if cold:
            session.flush()
        reading = session.pipelined(callables, calls)
        if reading.flags & native.HOST_BLOCKED:
            if calls > 4 and not samples:
                calls = calls // 2
                continue
            report["notes"].append("the call waits for the GPU, so there is no pipelined window")
            break
        readings.append(reading)
        samples.append(reading.ms)
        if len(samples) >= 8 and evaljson.relative_error(samples) <= noise:
            break
        if time.monotonic() - started > time_limit_s or len(samples) >= 2000:
            stop = "time limit"
            break
    per_call = session.per_call(callables, 0, 2 * PER_CALL_COUNT, cold)
    report.update(evaljson.side_block(samples, [r.ms for r in per_call], readings or per_call))
    report.update({"calls_per_window": calls, "stop": stop, "relative_error": evaljson.relative_error(samples),
                   "l2": evaljson.l2_label(session, sets, calls, cold, backend), "overhead": overhead,
                   "late_work": sum(bool(r.flags & native.LATE_WORK) for r in readings + list(per_call))})
    if report["late_work"]:
        report["notes"].append("the device was still busy after the closing event in %d windows" % report["late_work"])
    evaljson.write(report, out)
    return report


def _bind(fn, inputs):
    return (lambda: fn(**inputs)) if inputs else fn


def _run_prep(session, prep, sets):
    takes = len(inspect.signature(prep).parameters) > 0
    call = (lambda: prep(dict(sets[0]))) if takes else prep
    made = call()
    session.drain()
    readings = session.per_call([call], 0, 5, True)
    if isinstance(made, dict):
        for one in sets:
            one.update(prep(dict(one)) if takes else made)
    return {"ms": evaljson.median([r.ms for r in readings]),
            "outputs": {n: {"shape": list(v.shape), "dtype": str(v.dtype)} for n, v in (made or {}).items()
                        if hasattr(v, "shape")}}


def measure_windows_workloads(workloads, *, student, reference, prep=None, out=None, op=None, noise=0.005,
                              time_limit_s=20.0, cold=True, min_workloads=3, rounds=8, max_calls=200,
                              memory_bytes=8 << 30, load_limit_s=120.0, paths=None, require_geometric_mean=True):
    """Compares student and reference over workloads and returns the eval document (written to `out` as JSON).

    workloads: Workload objects. student, reference: "module:function" (isolated: each in a child process) or a callable
    (in this process, said in the report). A call receives the inputs that its parameters name; where a window.toml lies
    beside the bench, only those that it lists for that side. prep: a module-level function from a dict of inputs to a dict
    of tensors; it runs outside every window and both sides may take what it returns. Options: noise (relative standard
    error of the ratio to stop at), time_limit_s (of each workload), cold (L2 flushed), rounds (fewest A B B A rounds),
    load_limit_s (limit of each answer of a child).

    A student that breaks a rule gets findings in place of a ratio; the document is written all the same, once every
    process of the student is gone.
    """
    workloads = list(workloads)
    options = dict(noise=noise, time_limit_s=time_limit_s, cold=cold, rounds=rounds, load_limit_s=load_limit_s,
                   max_calls=max_calls, min_calls=4, memory_bytes=memory_bytes)
    phase.say("harness")
    try:
        document = _measure(Bench(workloads, student, reference, prep, options, paths or default_paths()), op, len(workloads),
                            min_workloads, require_geometric_mean)
    except native.PlumblineError as error:
        phase.say("failed %s" % error.code)
        raise
    evaljson.hand_over(document, out)
    return document


def _measure(bench, op, wanted, min_workloads, require_geometric_mean):
    try:
        phase.say("waiting")
        with turn.of_gpu(bench.session.info()["uuid"] if bench.backend.asynchronous else None) as waited:
            if waited > 1:
                bench.notes.append("waited %.0f s for another measurement on this GPU" % waited)
            phase.say("harness")
            results = bench.run()
        return evaljson.document(op or _default_op(), results, bench.about(), wanted=wanted, min_workloads=min_workloads,
                                 require_geometric_mean=require_geometric_mean)
    finally:
        bench.close()


def default_paths():
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    here = os.path.dirname(os.path.abspath(file)) if file else os.getcwd()
    return [here, os.path.dirname(here)]


def _default_op():
    paths = default_paths()
    return os.path.basename(paths[1]) if os.path.basename(paths[0]) == "eval" else os.path.basename(paths[0])
