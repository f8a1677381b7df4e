# SPDX-License-Identifier: Apache-2.0
"""The student, handed out and lse by the prep step: the backward alone."""
import torch

_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_backward


def backward(q, k, v, out, lse, do):
    """dq, dk, dv. All but lse ([batch, heads, seq_len], fp32): [batch, heads, seq_len, head_dim], bf16, causal."""
    seed = torch.empty(0, dtype=torch.uint64, device=q.device)  # read only with dropout
    length = q.shape[2]
    return _BACKWARD(do, q, k, v, out, lse, None, None, length, length, 0.0, True, seed, seed)
