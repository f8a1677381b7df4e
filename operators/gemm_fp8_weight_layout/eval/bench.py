# SPDX-License-Identifier: Apache-2.0
"""Times both sides over three shapes, the student's weight laid out by prep, and writes eval.json.

    plumbline run operators/gemm_fp8_weight_layout
"""
import torch
from plumbline import Workload, measure_windows_workloads


def make_inputs(m, n, k, seed):
    """Fresh random x and weight, in e4m3."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, generator=generator).to(torch.float8_e4m3fn)

    return {"x": fresh(m, k), "weight": fresh(k, n)}


def prep(inputs):
    """The weight transposed in memory: made once, outside every window, for the student alone."""
    return {"weight_t": inputs["weight"].t().contiguous()}


def workload(m, n, k, campaign=False):
    """One shape."""
    return Workload("m%d_n%d_k%d" % (m, n, k), lambda seed: make_inputs(m, n, k, seed), campaign=campaign,
                    shape={"m": m, "n": n, "k": k})


if __name__ == "__main__":
    measure_windows_workloads(
        [workload(4096, 4096, 4096, campaign=True), workload(1024, 8192, 4096), workload(256, 14336, 4096)],
        student="kernel:matmul",
        reference="reference:matmul",
        prep=prep,
        out="eval.json",
    )
