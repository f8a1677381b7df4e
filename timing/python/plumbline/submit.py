# SPDX-License-Identifier: Apache-2.0
"""`plumbline hardware submit`: measures the card at hand for a few minutes and writes one file that says everything a fit must know.

    python3 -m plumbline.submit --out FILE [--minutes M]

The file is text: lines `# key: value` about card, versions and window, then tables of rows, each behind `# table: NAME`, and at the end
the SHA-256 of all that stands above it. `plumbline hardware check` verifies it without a GPU.
"""

import argparse
import csv
import hashlib
import io
import itertools
import os
import sys
import time

FORMAT = "plumbline-submission/1"
READING = ["kernel", "ms", "replays", "calls", "spread_pct", "sm_mhz"]  # of every row, behind its operation's columns
TARGET_MS = 2.5      # how long one replay is to be
REPLAYS = 5
GIVE_UP = 3          # an operation that failed this often, and never ran, is not asked again
NAMING_SHARE = 0.12  # of the time, for the kernels' names


def log(*words):
    print(*words, file=sys.stderr, flush=True)


class Rows:
    """What was measured, table by table: each row is [cells, kernel, timing, the call that it came from]."""

    def __init__(self):
        self.tables = {}

    def add(self, call, timing):
        self.tables.setdefault(call.table, []).append([call.cells, "", timing, call])

    def __len__(self):
        return sum(len(rows) for rows in self.tables.values())


def measure(seconds, clock, rows, calls_of, design, operations):
    """Walks the design until the time is up. What a card or this PyTorch does not run is said once and left out."""
    import torch
    from .graph_timing import time_calls
    end, failed, worked = time.monotonic() + seconds, {}, set()
    for operation, shape in design:
        if time.monotonic() > end:
            return
        if failed.get(operation, 0) >= GIVE_UP and operation not in worked:
            if not worked and min(failed.get(one, 0) for one in operations) >= GIVE_UP:
                return  # nothing runs here
            continue
        try:
            calls = calls_of(operation, shape)
        except Exception as error:  # noqa: BLE001 - an operation that this PyTorch lacks
            failed[operation] = failed.get(operation, 0) + 1
            log("not measured:", operation, repr(error)[:160])
            continue
        for call in calls:
            try:
                rows.add(call, time_calls(call.make, call.nbytes, REPLAYS, TARGET_MS, clock))
                worked.add(operation)
            except Exception as error:  # noqa: BLE001 - a head width that a backend lacks, too little memory
                failed[operation] = failed.get(operation, 0) + 1
                log("not measured:", operation, *call.cells, repr(error)[:160])
                torch.cuda.synchronize()
        if torch.cuda.memory_reserved() > 0.5 * torch.cuda.get_device_properties(0).total_memory:
            torch.cuda.empty_cache()


def _kernels_below(event):
    names = [kernel.name for kernel in event.kernels]
    for child in event.cpu_children:
        names += _kernels_below(child)
    return names


def name_kernels(rows, seconds):
    """Which kernels ran: one launch of each row's call, seen by PyTorch's profiler. A library chooses by shape alone. Rows that are not
    reached, or where the profiler may not look, keep no name."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function
    from .graph_timing import plain
    end = time.monotonic() + seconds
    waiting = [row for table in itertools.zip_longest(*rows.tables.values()) for row in table if row]  # the tables take turns
    for first in range(0, len(waiting), 40):
        if time.monotonic() > end:
            return
        part = waiting[first:first + 40]
        try:
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
                for number, row in enumerate(part):
                    call = row[3].make()
                    with record_function("plumbline row %d" % number):
                        call()
                    torch.cuda.synchronize()
            for event in seen.events():
                if event.name.startswith("plumbline row ") and (names := _kernels_below(event)):
                    launched = [plain(n) for n in names if not n.startswith(("Mem", "plumbline row"))]
                    part[int(event.name.split()[-1])][1] = "+".join(n for n in dict.fromkeys(launched) if n)
        except Exception as error:  # noqa: BLE001 - the readings stand without names
            log("kernels not named:", repr(error)[:160])
            return


def head(card, nvml, began):
    """What stands above the tables, in order."""
    import torch
    cudnn = torch.backends.cudnn.version()
    return {
        "gpu": card.name, "sms": card.multi_processor_count, "compute": "%d.%d" % (card.major, card.minor),
        "l2_bytes": card.L2_cache_size, "memory_bytes": card.total_memory, "sm_mhz_max": nvml.sm_mhz_max() or "not read",
        "driver": nvml.driver() or "not read",
        "framework": "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda, cudnn),
        "window.quantisation": "outside", "window.allocation": "outside", "window.host": "outside",
        "timer": "CUDA events around a graph of `calls` calls; ms is the median of `replays`, spread_pct their range",
        "flush": "buffers in rotation, 2.5 times L2",
        "clocks": "sm_mhz by NVML while the last replay ran" if nvml.sm_mhz() else "not read",
        "seconds": round(time.monotonic() - began),
    }


def text_of(about, rows, columns_of):
    """The file, its hash last."""
    out = io.StringIO()
    out.write("# %s\n" % FORMAT)
    for key, value in about.items():
        out.write("# %s: %s\n" % (key, " ".join(str(value).split())))
    write = csv.writer(out, lineterminator="\n").writerow
    for table, columns in columns_of.items():
        if table not in rows.tables:
            continue
        out.write("# table: %s\n" % table)
        write(columns + READING)
        for cells, kernel, timing, _ in rows.tables[table]:
            spread = 100 * (timing.ms_max - timing.ms_min) / timing.ms
            write([*cells, kernel, "%.7g" % timing.ms, timing.replays, timing.calls, "%.3g" % spread, timing.sm_mhz or ""])
    text = out.getvalue()
    return text + "# sha256: %s\n" % hashlib.sha256(text.encode()).hexdigest()


def write_whole(path, text):
    """Beside its place and renamed there."""
    half = "%s.%d.partial" % (path, os.getpid())
    try:
        with open(half, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(half, path)
    except BaseException:
        if os.path.exists(half):
            os.unlink(half)
        raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    began = time.monotonic()
    try:
        import torch
    except ImportError as error:
        raise SystemExit("plumbline.submit: this needs PyTorch: %s" % error)
    if not torch.cuda.is_available():
        raise SystemExit("plumbline.submit: PyTorch sees no GPU here")
    from . import graph_timing, submit_calls, submit_shapes
    card = torch.cuda.get_device_properties(0)
    nvml = graph_timing.Nvml(getattr(card, "uuid", ""))
    clock = nvml.sm_mhz if nvml.sm_mhz() else None
    seconds = 60 * options.minutes
    rows = Rows()
    try:
        measure((1 - NAMING_SHARE) * seconds, clock, rows, submit_calls.of, submit_shapes.design(),
                tuple(submit_shapes.MAKERS))
        log(len(rows), "rows in %.0f s" % (time.monotonic() - began))
        name_kernels(rows, seconds - (time.monotonic() - began))
    except KeyboardInterrupt:
        log("ended early: what was measured is written")
    if not len(rows):
        raise SystemExit("plumbline.submit: nothing could be measured")
    write_whole(options.out, text_of(head(card, nvml, began), rows, submit_calls.TABLES))
    log(len(rows), "rows in", options.out)


if __name__ == "__main__":
    main()
