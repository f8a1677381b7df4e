# SPDX-License-Identifier: Apache-2.0
"""Does it change a call's time whose memory its inputs are? A kernel bound by memory on tensors of its own process, and on
tensors in an allocation that another process made and shares, which ends on a 2 MiB page or within one.
Usage: shared_memory.py OUT.json"""
import ctypes
import json
import statistics
import subprocess
import sys

import torch

import plumbline
from common import Results
from plumbline import backends, machine

PAGE = 2 << 20
SIZES = {"32 MiB tensors": (4096, 4096, 15), "3.1 MiB tensors": (400, 4096, 100)}  # the second: none begins on a page


def tensors(rows, columns, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return {name: torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16, generator=generator) for name in "xyz"}


def read(session, sets):
    """Microseconds a call of (x + y) and of z * 2, each into fresh memory; the median of ten windows."""
    def call(one):
        return torch.add(one["x"], one["y"]), torch.mul(one["z"], 2.0)
    calls = [lambda one=one: call(one) for one in sets]
    kept = [one() for one in calls]
    del kept
    session.drain()
    samples = []
    for _ in range(12):
        kept = [None] * len(calls)
        session.flush()
        samples.append(session.pipelined(calls, len(calls), kept).ms * 1e3)
        del kept
    return statistics.median(samples[2:])


def child():
    """Answers with the reading over an allocation that it attaches, or over its own tensors."""
    backend = backends.choose()
    session = backend.open_session()
    print("ready", flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        if "handle" in given:
            base = session.attach(given["handle"])
            sets = [backend.build(base + i * given["stride"], given["specs"]) for i in range(given["count"])]
        else:
            sets = [tensors(given["rows"], given["columns"], seed) for seed in range(given["count"])]
        print(json.dumps(read(session, sets)), flush=True)
        del sets


def packed(backend, session, sets, page, exact):
    """The sets in one allocation, tensors on multiples of `page`; `exact`: not rounded up to whole pages."""
    specs, stride = {}, 0
    for name, value in sets[0].items():
        stride = -(-stride // page) * page
        specs[name] = dict(backend.describe(value), offset=stride)
        stride += specs[name]["nbytes"]
    stride = -(-stride // page) * page
    size = stride * len(sets)
    if exact:
        size += 512 if size % PAGE == 0 else 0  # ends within a page, whatever the sizes are
        address = ctypes.c_uint64()
        status = ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
        if status != 0:
            raise SystemExit("cuMemAlloc: %d" % status)
        address = address.value
    else:
        address = session.alloc(size)
    views = [backend.build(address + i * stride, specs) for i in range(len(sets))]
    for view, one in zip(views, sets):
        for name in view:
            view[name].copy_(one[name])
    torch.cuda.synchronize()
    return {"handle": session.share(address), "stride": stride, "specs": specs, "count": len(sets)}, views


def main():
    backend = backends.choose()
    session = backend.open_session()
    results = Results(sys.argv[1], machine=machine.describe(session, backend), kernels={})
    process = subprocess.Popen([sys.executable, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()

    def ask(message):
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    for name, (rows, columns, count) in SIZES.items():
        sets = [tensors(rows, columns, seed) for seed in range(count)]
        row = {"own tensors": read(session, sets),
               "own tensors, in the child": ask({"rows": rows, "columns": columns, "count": count})}
        for label, page, exact in (("ends within a page", 512, True), ("whole pages", 512, False),
                                   ("whole pages, each tensor on a page", PAGE, False)):
            message, views = packed(backend, session, sets, page, exact)
            row["own allocation, " + label] = read(session, views)
            row["shared allocation, " + label] = ask(message)
        results.data["kernels"][name] = row
        results.write()
        for label, us in row.items():
            print("%-18s %-52s %7.2f us" % (name, label, us), flush=True)
    process.stdin.close()
    process.wait()


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else main()
