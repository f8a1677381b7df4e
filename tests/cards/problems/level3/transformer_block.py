# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, dropout, longest):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)).view(1, 1, longest, longest))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (k.shape[-1] ** -0.5)
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = self.drop(F.softmax(scores, dim=-1)) @ v
        return self.out(y.transpose(1, 2).contiguous().view(b, t, c))


class Model(nn.Module):
    """A whole block: causal attention, a gated layer, both with their residuals."""

    def __init__(self, width, heads, dropout, longest):
        super().__init__()
        self.first = nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout, longest)
        self.second = nn.LayerNorm(width)
        self.layers = nn.ModuleDict({"up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.layers["down"](F.gelu(self.layers["up"](self.second(x))))


batch_size, longest, seq_len, width, heads = 16, 1024, 512, 768, 8


def get_inputs():
    return [torch.rand(batch_size, seq_len, width)]


def get_init_inputs():
    return [width, heads, 0.1, longest]
