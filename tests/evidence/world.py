# SPDX-License-Identifier: Apache-2.0
"""Cards, evals and kernel tables as honest work makes them: the ground that both evidence tests stand on.

Times come out of a small model: bytes over a share of the memory's speed, a launch floor, noise of a clock that steps. So every
document agrees with every other, and with what a GPU can do."""
import json
import math
import os
import random

PEAK_GBPS = {"NVIDIA H200": 4800.0, "NVIDIA H100 80GB HBM3": 3350.0, "NVIDIA A100-SXM4-80GB": 2039.0, "NVIDIA B200": 8000.0}
STYLES = ("plumbline", "plumbline_per_call", "paired", "hand", "hand_rounded", "bare")
TOOLS = ("recorder", "ncu-csv", "nsys-sqlite", "torch-trace")


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def trimmed(values):
    ordered, cut = sorted(values), len(values) // 5
    kept = ordered[cut:len(ordered) - cut]
    return sum(kept) / len(kept)


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def samples(rng, ms, count, noise, tick_ms):
    """Readings around `ms`: normal noise, now and then a slow one, in steps of the clock."""
    out = []
    for _ in range(count):
        value = ms * (1 + rng.gauss(0, noise)) * (1 + (abs(rng.gauss(0, 6 * noise)) if rng.random() < 0.05 else 0))
        out.append(round(value / tick_ms) * tick_ms if tick_ms else value)
    return out


def shuffled(rng, value):
    """The same document with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {k: shuffled(rng, value[k]) for k in keys}
    return [shuffled(rng, v) for v in value] if isinstance(value, list) else value


CONTRACTS = {
    "plain": ("", ["x", "w"], ["x", "w"], ["y"], ["y"]),
    "student_pays": ('[[asymmetry]]\nref_input = "lse"\nclass = "price"\nproduced_by = "forward"\n'
                     'student_kernel_regex = "rebuild_lse"\n', ["x", "w", "lse"], ["x", "w"], ["y"], ["y"]),
    "ref_pays": ('[[asymmetry]]\nstudent_input = "w_t"\nclass = "price"\nproduced_by = "prep"\nderived_from = "w"\n'
                 'ref_kernel_regex = "lay_out"\n', ["x", "w"], ["x", "w_t"], ["y"], ["y"]),
    "accepted": ('[[asymmetry]]\nref_output = "aux"\nclass = "accept"\n', ["x", "w"], ["x", "w"], ["y", "aux"], ["y"]),
}


def contract_text(kind):
    entry, ref_in, student_in, ref_out, student_out = CONTRACTS[kind]
    quote = lambda names: json.dumps(names)
    return ('schema_version = 1\n\n[reference]\nwindow = "the call"\ninputs = %s\noutputs = %s\n\n'
            '[student]\nwindow = "the call"\ninputs = %s\noutputs = %s\n\n%s'
            % (quote(ref_in), quote(ref_out), quote(student_in), quote(student_out), entry))


class World:
    """One comparison. `card`, `contract`, `eval` and both tables are plain data that a test may change."""

    def __init__(self, seed, style="plumbline", contract="plain", tool="recorder", gpu="NVIDIA H200", count=3):
        rng = self.rng = random.Random(seed)
        self.card, self.style, self.contract, self.gpu = "card_%d" % seed, style, contract, gpu
        self.tool = tool
        self.files = {}
        self.ours = style in ("plumbline", "plumbline_per_call", "paired")
        window = "per_call" if style == "plumbline_per_call" else "pipelined"
        speedup = rng.choice([0.7, 0.9, 1.15, 1.4, 2.2])
        names, shapes = [], []
        while len(shapes) < count:
            shape = {"tokens": rng.choice([512, 1000, 2048, 4096, 8192, 16384]), "hidden": rng.choice([1024, 2880, 4096, 5120, 7168])}
            if shape not in shapes and shape["tokens"] * shape["hidden"] > 8e6:
                shapes.append(shape)
                names.append(rng.choice(["t%d_h%d", "tokens=%d, hidden=%d", "%d x %d"]) % (shape["tokens"], shape["hidden"]))
        workloads = [self.workload(n, s, i == 0, window, speedup) for i, (n, s) in enumerate(zip(names, shapes))]
        first = workloads[0]
        field = window + "_ms"
        performance = {"student_ms": first["student"][field], "ref_ms": first["ref"][field],
                       "ratio": geomean([w["ratio"] for w in workloads]), "n_workloads": count, "window": window,
                       "workloads": workloads}
        if style == "hand_rounded":
            performance["ratio"] = round(performance["ratio"], 3)
        self.eval = {"schema_version": 1, "op": self.card, "performance": performance,
                     "machine": {"gpu": gpu, "driver": "driver 580.1"}, "harness": self.harness()}
        if style == "bare":
            del self.eval["harness"]
        self.student_table, self.ref_table = self.tables(first, field)

    def harness(self):
        if not self.ours:
            return {"name": self.rng.choice(["hand-written script", "triton do_bench", "bench.py 2.1"]), "order": "ABBA", "l2": "cold"}
        return {"name": "plumbline", "version": "0.1.0", "isolation": "process", "order": "ABBA", "noise": 0.005, "time_limit_s": 20.0,
                "cold": True, "overhead": {"per_call_us": 1.31, "per_call_spread_us": 0.03, "launch_floor_us": 1.5, "drain_us": 0.5,
                                           "flush_us": 40.0}, "notes": []}

    def side(self, ms, n, noise, window, mhz, celsius):
        rng, tick = self.rng, self.rng.choice([0, 3.2e-5 / 8])
        of = samples(rng, ms, n, noise, tick)
        if self.style == "hand_rounded":
            of = [round(s, 6) for s in of]
        reading = {"plumbline": trimmed, "plumbline_per_call": trimmed, "paired": trimmed}.get(self.style, median)(of)
        single = samples(rng, ms + rng.uniform(0.004, 0.012), 24, 0.02, 3.2e-5)
        block = {"pipelined_ms": reading, "per_call_ms": median(single), "host_tax_ms": median(single) - reading, "samples_ms": of}
        if self.style == "plumbline_per_call":
            block = {"pipelined_ms": None, "per_call_ms": trimmed(of), "host_tax_ms": None, "samples_ms": [],
                     "per_call_samples_ms": of}
        elif self.ours:
            block.update({"median_ms": median(of), "interval_ms": [sorted(of)[1], sorted(of)[-2]], "per_call_samples_ms": single})
        if self.style == "hand_rounded":
            block["pipelined_ms"] = round(block["pipelined_ms"], 5)
        if self.style == "bare":
            block = {"pipelined_ms": block["pipelined_ms"]}
        if self.ours:
            block.update({"sm_mhz": mhz, "temperature_c": celsius})
        return block

    def workload(self, name, shape, campaign, window, speedup):
        rng = self.rng
        set_bytes = 2 * 2 * shape["tokens"] * shape["hidden"]
        student_ms = set_bytes * 1.6 / (PEAK_GBPS[self.gpu] * rng.uniform(0.4, 0.8) * 1e6) + 0.002
        noise, n = rng.uniform(0.0008, 0.003), rng.choice([8, 12, 16, 20, 33])
        mhz, celsius = rng.uniform(1750, 1970), rng.randint(38, 62)
        student = self.side(student_ms, n, noise, window, mhz * (1 + rng.uniform(-0.004, 0.004)), celsius + rng.randint(0, 1))
        ref = self.side(student_ms * speedup * rng.uniform(0.98, 1.02), n, noise, window, mhz, celsius)
        field = window + "_ms"
        ratio = ref[field] / student[field]
        if self.style == "paired":
            ratio = median([r / s for r, s in zip(ref["samples_ms"], student["samples_ms"])])
        if self.style == "hand_rounded":
            ratio = round(ratio, 3)
        block = {"name": name, "campaign": campaign, "shape": shape, "student": student, "ref": ref, "ratio": ratio}
        if self.style not in ("hand_rounded", "bare"):
            block["aa_ratio"] = 1 + rng.uniform(-1, 1) * noise / math.sqrt(n)
        if self.ours:
            calls = rng.randint(4, 15)
            block.update({
                "findings": [], "notes": [], "ratio_interval": [ratio * (1 - noise), ratio * (1 + noise)], "relative_error": noise / 2,
                "smallest_difference": max(3 * noise, abs(block["aa_ratio"] - 1)), "distinguishable": True, "rounds": n // 2,
                "rounds_dropped_throttled": rng.choice([0, 0, 1]), "rounds_kept_throttled": 0, "stop": rng.choice(["noise", "rounds"]),
                "throttle": [], "seconds": 1.5, "window": window, "calls_per_window": calls, "sets": calls, "set_bytes": set_bytes,
                "l2": "cold", "inputs_refreshed": "every window", "outputs_checked": rng.randint(30, 700),
                "sealed_ms": [student[field] * (1 + rng.gauss(0, noise)) for _ in range(2)],
                "student_drained_us": rng.uniform(0.5, 2.5), "student_receives": CONTRACTS[self.contract][2],
                "ref_receives": CONTRACTS[self.contract][1], "student_threads": 18, "graph_captured": {"ref": False, "student": False},
                "quiet": {"before_ms": ref[field], "after_ms": ref[field] * (1 + noise / 2)}})
        return block

    def tables(self, campaign, field):
        """Kernels that fill each window up to small gaps; what the contract prices is a fifth of it."""
        rng, calls = self.rng, self.rng.choice([1, 2, 10, 20])
        entry = self.contract

        def table(side, priced):
            busy = side[field] * 1e6 * rng.uniform(0.9, 0.99)
            rows = [("void main_part<%d, float>(float*, float const*)" % rng.choice([64, 128]), 0.6, 1), ("epilogue", 0.2, 2)]
            rows.append((priced, 0.2, 1) if priced else ("tail", 0.2, 1))
            kernels = [{"name": n, "launches": launches * calls, "time_ns": busy * share * calls} for n, share, launches in rows]
            return {"schema": "plumbline-table/1", "source": self.tool, "device": self.gpu, "region": "profiler", "calls": calls,
                    "kernels": kernels}

        return (table(campaign["student"], "rebuild_lse" if entry == "student_pays" else None),
                table(campaign["ref"], "void lay_out<__half>(__half*)" if entry == "ref_pays" else None))

    def prep(self):
        """The report of a prep step, with the tensor that ref_pays prepares."""
        made = {"w_t": {"shape": [64, 64], "dtype": "torch.bfloat16"}}
        names = [w["name"] for w in self.eval["performance"]["workloads"]]
        return {"outputs": made, "mutated": [], "ms": 0.1,
                "workloads": [{"name": n, "outputs": made, "mutated": [], "ms": 0.1} for n in names]}

    def write(self, root, tables=True):
        """The card under `root`; returns its path."""
        card = os.path.join(root, self.card)
        run = os.path.join(card, "runs", "r1")
        os.makedirs(run, exist_ok=True)
        self.files.setdefault("window.toml", contract_text(self.contract))
        for path, text in self.files.items():
            os.makedirs(os.path.dirname(os.path.join(card, path)), exist_ok=True)
            with open(os.path.join(card, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        for name, value in [("eval.json", self.eval)] + ([("student.table.json", self.student_table),
                                                          ("ref.table.json", self.ref_table)] if tables else []):
            if value is not None:
                with open(os.path.join(run, name), "w", encoding="utf-8") as stream:
                    json.dump(shuffled(self.rng, value), stream, indent=self.rng.choice([None, 1, 2]))
        return card
