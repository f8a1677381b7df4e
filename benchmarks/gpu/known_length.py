# SPDX-License-Identifier: Apache-2.0
"""Kernels of a known length: a spin of a set number of clock ticks, and host tax that is put in on purpose.
Usage: known_length.py OUT.json"""
import statistics
import struct
import sys
import time

import torch

import plumbline
from common import Results, repeat
from plumbline import machine


def true_clock(session):
    """SM clock in MHz, read by one long spin from the GPU's own two counters."""
    stamps = session.alloc(64)
    readings = []
    for _ in range(5):
        session.spin(40_000_000, stamps)
        session.drain()
        start, end, first, last = struct.unpack("4Q", session.read(stamps, 32))
        readings.append((end - start) / (last - first) * 1e3)
    session.free(stamps)
    return statistics.median(readings)


def main():
    torch.zeros(1, device="cuda")
    session = plumbline.Session.cuda(0)
    results = Results(sys.argv[1], machine=machine.describe(session), overhead=session.overhead(), spins=[], tax=[])
    for _ in range(3):
        true_clock(session)
    floor = statistics.median(session.pipelined([lambda: session.spin(0)] * 100).ms for _ in range(9)) * 1e3
    results.put("launch_floor_us", floor)
    for target_us in (5, 10, 20, 50, 100, 500, 2000):
        mhz = true_clock(session)
        ticks = int(target_us * mhz)
        count = max(4, min(100, int(4000 / target_us)))
        windows = [session.pipelined([lambda: session.spin(ticks)] * count) for _ in range(9)]
        reading = statistics.median(w.ms for w in windows) * 1e3
        clock = statistics.median(w.sm_mhz for w in windows)
        row = {"ticks": ticks, "clock_mhz": mhz, "window_clock_mhz": clock, "true_us": ticks / mhz, "read_us": reading,
               "less_floor_us": reading - floor, "error": (reading - floor) * mhz / ticks - 1,
               "raw_error": reading * mhz / ticks - 1}
        results.data["spins"].append(row)
        results.write()
        print("spin %7.1f us read %8.2f less floor %8.2f error %+.3f%% (raw %+.2f%%) clock %.1f / %.1f" % (
            row["true_us"], reading, reading - floor, row["error"] * 100, row["raw_error"] * 100, mhz, clock), flush=True)

    def busy(nanoseconds):
        end = time.perf_counter_ns() + nanoseconds
        while time.perf_counter_ns() < end:
            pass

    # Host tax: the same spin, with host work of a known length put before the launch.
    mhz = true_clock(session)
    ticks = int(20 * mhz)

    def tax_of(host_us, rounds=6):
        def call():
            if host_us:
                busy(int(host_us * 1000))
            session.spin(ticks)
        pipelined = statistics.median(session.pipelined([call] * 50).ms for _ in range(rounds))
        per_call = statistics.median(r.ms for r in session.per_call([call] * 60))
        return (per_call - pipelined) * 1e3
    # The independent measure: the spin's own start stamp against that of an earlier spin on the idle stream.
    plain = [tax_of(0) for _ in range(5)]
    spread = max(plain) - min(plain)
    base = statistics.median(plain)
    for host_us in (10, 20, 50, 100):
        read = [tax_of(host_us) for _ in range(3)]
        row = {"put_in_us": host_us, "read_us": statistics.median(read) - base, "plain_us": base, "aa_us": spread}
        results.data["tax"].append(row)
        results.write()
        print("host tax put in %5.1f us, read %6.2f us more than %.2f us (A/A %.2f us)" % (
            host_us, row["read_us"], base, spread), flush=True)
    results.put("launch", launch_measure(session, mhz, ticks))
    print("launch", results.data["launch"])


def launch_measure(session, mhz, ticks):
    """Host tax of one launch measured another way: on an idle stream, the GPU's nanosecond counter at the end of one spin
    and at the start of the next, which is launched by the same host code after the first has been seen to run."""
    stamps = session.alloc(256)
    waits, harness = [], []
    for _ in range(40):
        session.drain()
        session.spin(0, stamps)
        session.spin(ticks, stamps + 64)
        session.drain()
        first = struct.unpack("4Q", session.read(stamps, 32))
        second = struct.unpack("4Q", session.read(stamps + 64, 32))
        waits.append((second[2] - first[3]) * 1e-3)
    call = [lambda: session.spin(ticks)]
    pipelined = statistics.median(session.pipelined(call * 50).ms for _ in range(5))
    for _ in range(5):
        harness.append((statistics.median(r.ms for r in session.per_call(repeat(call, 20))) - pipelined) * 1e3)
    session.free(stamps)
    return {"between_launches_us": statistics.median(waits), "harness_host_tax_us": statistics.median(harness),
            "harness_spread_us": max(harness) - min(harness)}


if __name__ == "__main__":
    main()
