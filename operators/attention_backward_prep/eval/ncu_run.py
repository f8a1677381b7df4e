# SPDX-License-Identifier: Apache-2.0
"""Two calls of one side on the campaign workload, for a profiler; prep runs before the profiler starts.

    ncu --profile-from-start off --csv --page raw --print-units base --clock-control none \
        python eval/ncu_run.py student > student.ncu.csv
    plumbline record -o student.table.json -- python eval/ncu_run.py student
"""
import os
import sys

import torch
from bench import make_inputs, prep
from plumbline import record_calls

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kernel  # noqa: E402
import reference  # noqa: E402

CALLS = 2

inputs = make_inputs(2, 2048, seed=0)
inputs.update(prep(inputs))
backward = {"student": kernel.backward, "reference": reference.backward}[sys.argv[1]]
for _ in range(3):
    backward(**inputs)
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
for _ in range(CALLS):
    backward(**inputs)
torch.cuda.synchronize()
torch.cuda.profiler.stop()
