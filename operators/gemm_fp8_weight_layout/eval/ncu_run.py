# SPDX-License-Identifier: Apache-2.0
"""Twenty calls of one side on one workload (the campaign's, where none is named), each on inputs of its own, for the
recorder or a profiler; prep runs before the profiler starts.

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
SHAPES = {"m4096_n4096_k4096": (4096, 4096, 4096), "m1024_n8192_k4096": (1024, 8192, 4096),
          "m256_n14336_k4096": (256, 14336, 4096)}

m, n, k = SHAPES[sys.argv[2] if len(sys.argv) > 2 else "m4096_n4096_k4096"]
# As in the timed window: each call has inputs of its own, and what it returns stays, so that no call reads or overwrites
# lines that another one left in L2. The first round leaves the allocator the memory of the second.
sets = [make_inputs(m, n, k, seed) for seed in range(CALLS)]
for inputs in sets:
    inputs.update(prep(inputs))
sides = {
    "student": lambda inputs: kernel.matmul(inputs["x"], inputs["weight_t"]),
    "reference": lambda inputs: reference.matmul(inputs["x"], inputs["weight"]),
}
call = sides[sys.argv[1]]
outputs = [call(inputs) for inputs in sets]
del outputs
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
outputs = [call(inputs) for inputs in sets]
torch.cuda.synchronize()
torch.cuda.profiler.stop()
