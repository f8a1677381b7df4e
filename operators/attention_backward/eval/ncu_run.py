# SPDX-License-Identifier: Apache-2.0
"""Two calls of one side on one workload (the campaign's, where none is named), for a profiler.

    ncu --profile-from-start off --csv --page raw --print-units base --clock-control none \
        python eval/ncu_run.py student > student.ncu.csv
    plumbline record -o student.table.json -- python eval/ncu_run.py student
"""
import os
import sys

import torch
from bench import make_inputs
from plumbline import record_calls

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kernel  # noqa: E402
import reference  # noqa: E402

CALLS = 2
SHAPES = {"b2_s2048": (2, 2048), "b4_s1024": (4, 1024), "b1_s4096": (1, 4096)}

inputs = make_inputs(*SHAPES[sys.argv[2] if len(sys.argv) > 2 else "b2_s2048"], seed=0)
sides = {
    "student": lambda: kernel.backward(**{name: inputs[name] for name in ("q", "k", "v", "do")}),
    "reference": lambda: reference.backward(**inputs),
}
call = sides[sys.argv[1]]
for _ in range(3):
    call()
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
for _ in range(CALLS):
    call()
torch.cuda.synchronize()
torch.cuda.profiler.stop()
