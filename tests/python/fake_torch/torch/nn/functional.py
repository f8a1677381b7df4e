# SPDX-License-Identifier: Apache-2.0
import math

from .. import _device


def scaled_dot_product_attention(query, key, value, is_causal=False, enable_gqa=False):
    batch, heads, q_len, dim = query.shape
    if dim > 256:
        raise RuntimeError("no kernel for head width %d" % dim)
    kv_heads, kv_len = key.shape[1:3]
    _device.launch("fake_attention", 4 * batch * heads * q_len * kv_len * dim * (0.5 if is_causal else 1),
                   2 * batch * dim * (2 * heads * q_len + 2 * kv_heads * kv_len), 3e8)


def rms_norm(x, size, weight, eps):
    _device.launch("fake_norm", 0, 4 * math.prod(x.shape))
