# SPDX-License-Identifier: Apache-2.0
"""Twenty calls of one side on the campaign workload, inputs in rotation, for the recorder or a profiler.

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

CALLS = 20

norm = {"student": kernel.norm, "reference": reference.norm}[sys.argv[1]]
sets = [make_inputs(4096, 4096, seed) for seed in range(4)]
for inputs in sets:
    norm(**inputs)
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
for call in range(CALLS):
    norm(**sets[call % len(sets)])
torch.cuda.synchronize()
torch.cuda.profiler.stop()
