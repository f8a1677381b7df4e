# SPDX-License-Identifier: Apache-2.0
"""Times both sides over three shapes, out and lse handed to both by prep, and writes eval.json.

    cd operators/attention_backward_prep && python eval/bench.py
"""
import torch
from plumbline import Workload, measure_windows_workloads

HEADS = 16
HEAD_DIM = 128


def make_inputs(batch, seq_len, seed):
    """Fresh random q, k, v and do."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh():
        return torch.randn(batch, HEADS, seq_len, HEAD_DIM, device="cuda", dtype=torch.bfloat16, generator=generator)

    return {"q": fresh(), "k": fresh(), "v": fresh(), "do": fresh()}


def prep(inputs):
    """What a forward would have saved, made outside both windows, by torch alone."""
    saved = torch.ops.aten._scaled_dot_product_flash_attention(
        inputs["q"], inputs["k"], inputs["v"], 0.0, True, return_debug_mask=False)
    return {"out": saved[0], "lse": saved[1]}


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
        prep=prep,
        out="eval.json",
    )
