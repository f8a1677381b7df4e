# SPDX-License-Identifier: Apache-2.0
"""Times both sides over three shapes and writes eval.json."""
import torch
from plumbline import Workload, measure_windows_workloads


def make_inputs(tokens, hidden, seed):
    """Fresh random tensors; a side receives what its parameters name."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh(*size):
        return torch.randn(*size, device="cuda", dtype=torch.bfloat16, generator=generator)

    weight = fresh(hidden)
    return {"x": fresh(tokens, hidden), "residual": fresh(tokens, hidden), "weight": weight,
            "weight_fp32": weight.float()}


if __name__ == "__main__":
    measure_windows_workloads(
        [
            Workload("t2048_h4096", lambda seed: make_inputs(2048, 4096, seed), campaign=True),
            Workload("t8192_h4096", lambda seed: make_inputs(8192, 4096, seed)),
            Workload("t4096_h8192", lambda seed: make_inputs(4096, 8192, seed)),
        ],
        student="kernel:rmsnorm_residual",
        reference="reference:rmsnorm_residual",
        out="eval.json",
    )
