# SPDX-License-Identifier: Apache-2.0
"""The student: the same backward from raw inputs. It was given neither out nor lse, so it runs the forward again."""
import torch

_FORWARD = torch.ops.aten._scaled_dot_product_flash_attention
_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_backward


def backward(q, k, v, do):
    """dq, dk, dv. q, k, v, do: [batch, heads, seq_len, head_dim], bf16, causal."""
    out, lse, q_cum, k_cum, q_max, k_max, seed, offset, _ = _FORWARD(q, k, v, 0.0, True, return_debug_mask=False)
    return _BACKWARD(do, q, k, v, out, lse, q_cum, k_cum, q_max, k_max, 0.0, True, seed, offset)
