# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


def double(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(8, b), nn.SiLU(),
                         nn.Conv2d(b, b, 3, padding=1), nn.GroupNorm(8, b), nn.SiLU())


class Model(nn.Module):
    """Down, across and up again, with the skips joined."""

    def __init__(self, channels, width, out):
        super().__init__()
        self.down = nn.ModuleList([double(channels, width), double(width, 2 * width)])
        self.middle = double(2 * width, 4 * width)
        self.up = nn.ModuleList([nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)])
        self.join = nn.ModuleList([double(4 * width, 2 * width), double(2 * width, width)])
        self.last = nn.Conv2d(width, out, 1)

    def forward(self, x):
        skips = []
        for layer in self.down:
            x = layer(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([skips.pop(), up(x)], dim=1))
        return self.last(x)


def get_inputs():
    return [torch.randn(8, 8, 128, 128)]


def get_init_inputs():
    return [8, 32, 4]
