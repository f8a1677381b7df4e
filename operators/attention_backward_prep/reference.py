# SPDX-License-Identifier: Apache-2.0
"""The reference: PyTorch's flash attention, causal, without dropout."""
import torch

_FORWARD = torch.ops.aten._scaled_dot_product_flash_attention
_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_backward


def forward(q, k, v):
    """out and lse, the two tensors that a backward needs. q, k, v: [batch, heads, seq_len, head_dim], bf16."""
    saved = _FORWARD(q, k, v, 0.0, True, return_debug_mask=False)
    return saved[0], saved[1]


def backward(q, k, v, out, lse, do):
    """dq, dk, dv from what the forward saved."""
    seed = torch.empty(0, dtype=torch.uint64, device=q.device)  # read only with dropout
    length = q.shape[2]
    return _BACKWARD(do, q, k, v, out, lse, None, None, length, length, 0.0, True, seed, seed)
