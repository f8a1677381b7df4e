# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A chunked scan with a decay for each head; plain tensors beside parameters and a buffer."""

    def __init__(self, heads, width, chunk):
        super().__init__()
        self.chunk = chunk
        self.A = nn.Parameter(torch.rand(heads))
        self.D = nn.Parameter(torch.randn(heads, width))
        self.initial = torch.randn(heads, width)
        self.register_buffer("steps", torch.arange(chunk, dtype=torch.float32), persistent=False)

    def forward(self, x):
        b, t, h, w = x.shape
        x = x.view(b, t // self.chunk, self.chunk, h, w)
        decay = torch.exp(-self.A[None, :] * self.steps[:, None])
        weight = torch.tril(torch.exp(-(self.steps[:, None] - self.steps[None, :]).clamp_min(0)[None] * self.A[:, None, None]))
        inside = torch.einsum("hij,bcjhw->bcihw", weight, x)
        carried = (x * decay.flip(0)[None, None, :, :, None]).sum(2).cumsum(1)
        before = torch.cat([self.initial.expand(b, 1, h, w), carried[:, :-1]], dim=1)
        y = inside + decay[None, None, :, :, None] * before[:, :, None] + self.D * x
        return y.reshape(b, t, h, w)


def get_inputs():
    return [torch.randn(4, 2048, 16, 64)]


def get_init_inputs():
    return [16, 64, 64]
