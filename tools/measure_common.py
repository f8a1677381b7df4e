# SPDX-License-Identifier: Apache-2.0
"""What every measuring script shares: the shapes people ask about, timing, and rows that are written as they come."""
import csv
import inspect
import json
import math
import os
import subprocess
import sys
import time

import torch
from torch.nn.attention import SDPBackend

# The package measures by the same rules; this file needs nothing else of it.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "timing", "python", "plumbline"))
import graph_timing  # noqa: E402

DEVICE = torch.device("cuda")
DTYPE = torch.bfloat16
BACKENDS = (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION))
TIMES = ["ms", "ms_min", "ms_max", "calls"]
# (hidden, heads, KV heads, head width, FFN) of published models: the shapes people ask about
MODELS = [(1536, 8, 1, 256, 6144), (5376, 32, 16, 256, 21504), (2048, 16, 2, 128, 8192), (4096, 32, 8, 128, 14336),
          (2048, 32, 4, 64, 8192), (1024, 8, 1, 128, 4096), (3072, 24, 8, 128, 8192), (5120, 40, 8, 128, 17408),
          (3584, 28, 4, 128, 18944), (2560, 32, 8, 128, 9728), (2304, 8, 4, 256, 9216), (3072, 32, 32, 96, 8192),
          (8192, 64, 8, 128, 28672), (2048, 32, 8, 64, 8192)]
VOCABULARIES = [32000, 32064, 49152, 50257, 50264, 50304, 50432, 51200, 65024, 100277, 100352, 128256, 131072, 151936,
                152064, 200064, 256000, 262144]


class Sink:
    """A CSV file that is flushed row by row, so that a stopped run loses nothing."""

    def __init__(self, out, name, columns):
        self.file = open(os.path.join(out, name + ".csv"), "a", newline="")
        self.writer = csv.writer(self.file)
        if self.file.tell() == 0:
            self.writer.writerow(columns + TIMES)
        self.rows = 0

    def row(self, values, times):
        self.writer.writerow([*values, *times])
        self.file.flush()
        self.rows += 1


class Clock:
    """Says when a family's seconds are used up."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def out(self):
        return time.monotonic() > self.end


def time_calls(make, nbytes, replays=7, target_ms=4.0):
    """make() gives a zero-argument callable on a fresh buffer set of about `nbytes`. -> (median, min, max, R)."""
    return graph_timing.time_calls(make, nbytes, replays, target_ms)[:4]


def fresh(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=DTYPE) * 0.1


def tidy():
    if torch.cuda.memory_reserved() > 60e9:
        torch.cuda.empty_cache()


def attempt(label, action):
    """Runs one measurement; a refusal (a head width a backend lacks, say) is printed and does not stop the run."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - whatever a kernel refuses with
        print("skipped", *label, repr(error)[:140], flush=True)
    tidy()


def log_uniform(rng, low, high):
    return int(round(2 ** rng.uniform(math.log2(low), math.log2(high))))


def varlen(query, key, value, cumulative, length, window):
    """Variable-length flash attention with a sliding window; grouped KV heads where this PyTorch takes them."""
    from torch.nn.attention.varlen import varlen_attn
    extra = {}
    if query.shape[1] != key.shape[1] and "enable_gqa" in inspect.signature(varlen_attn).parameters:
        extra["enable_gqa"] = True
    return varlen_attn(query, key, value, cumulative, cumulative, length, length, window_size=(window - 1, 0), **extra)


def write_machine(folder):
    """machine.json: the card, and what ran on it."""
    card = torch.cuda.get_device_properties(0)
    query = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu"
    smi = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv"], capture_output=True, text=True).stdout
    described = {"gpu": card.name, "sms": card.multi_processor_count, "l2_bytes": card.L2_cache_size,
                 "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                 "smi": smi}
    with open(os.path.join(folder, "machine.json"), "w") as file:
        json.dump(described, file, indent=1)
        file.write("\n")
