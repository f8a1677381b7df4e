# SPDX-License-Identifier: Apache-2.0
"""Times both sides over three shapes and writes eval.json.

    cd operators/attention_backward && python eval/bench.py
"""
import os
import sys

import torch
from plumbline import Workload, measure_windows_workloads

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import reference  # noqa: E402

HEADS = 16
HEAD_DIM = 128


def make_inputs(batch, seq_len, seed):
    """Fresh random tensors, and what the reference's forward saves of them. A side receives what its parameters name."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh():
        return torch.randn(batch, HEADS, seq_len, HEAD_DIM, device="cuda", dtype=torch.bfloat16, generator=generator)

    q, k, v, do = fresh(), fresh(), fresh(), fresh()
    out, lse = reference.forward(q, k, v)
    return {"q": q, "k": k, "v": v, "do": do, "out": out, "lse": lse}


def shape(batch, seq_len):
    """The facts of a workload, for the report."""
    return {"batch": batch, "heads": HEADS, "seq_len": seq_len, "head_dim": HEAD_DIM}


if __name__ == "__main__":
    measure_windows_workloads(
        [
            Workload("b2_s2048", lambda seed: make_inputs(2, 2048, seed), campaign=True, shape=shape(2, 2048)),
            Workload("b4_s1024", lambda seed: make_inputs(4, 1024, seed), shape=shape(4, 1024)),
            Workload("b1_s4096", lambda seed: make_inputs(1, 4096, seed), shape=shape(1, 4096)),
        ],
        student="kernel:backward",
        reference="reference:backward",
        out="eval.json",
    )
