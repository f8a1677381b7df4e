# SPDX-License-Identifier: Apache-2.0
"""Times both sides over three shapes and writes eval.json.

    plumbline run operators/rmsnorm_residual_triton
"""
import torch
from plumbline import Workload, measure_windows_workloads


def make_inputs(tokens, hidden, seed):
    """Fresh random x and residual, and a weight near 1."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, generator=generator)

    return {"x": fresh(tokens, hidden), "residual": fresh(tokens, hidden), "weight": 1 + 0.1 * fresh(hidden)}


if __name__ == "__main__":
    measure_windows_workloads(
        [
            Workload("t8192_h5120", lambda seed: make_inputs(8192, 5120, seed), campaign=True,
                     shape={"tokens": 8192, "hidden": 5120}),
            Workload("t4096_h4096", lambda seed: make_inputs(4096, 4096, seed), shape={"tokens": 4096, "hidden": 4096}),
            Workload("t2048_h8192", lambda seed: make_inputs(2048, 8192, seed), shape={"tokens": 2048, "hidden": 8192}),
        ],
        student="kernel:norm",
        reference="reference:norm",
        out="eval.json",
    )
