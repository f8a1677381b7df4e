# SPDX-License-Identifier: Apache-2.0
"""Twenty calls of one side on the campaign workload, inputs in rotation, for the recorder or a profiler; prep runs before
the profiler starts.

    plumbline record -o reference.table.json -- python eval/ncu_run.py reference
"""
import os
import sys

import torch
from bench import make_inputs, prep
from plumbline import record_calls

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kernel  # noqa: E402
import reference  # noqa: E402

CALLS = 20

sets = [make_inputs(4096, 4096, 4096, seed) for seed in range(4)]
for inputs in sets:
    inputs.update(prep(inputs))
sides = {
    "student": lambda inputs: kernel.matmul(inputs["x"], inputs["weight_t"]),
    "reference": lambda inputs: reference.matmul(inputs["x"], inputs["weight"]),
}
call = sides[sys.argv[1]]
for inputs in sets:
    call(inputs)
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
for number in range(CALLS):
    call(sets[number % len(sets)])
torch.cuda.synchronize()
torch.cuda.profiler.stop()
