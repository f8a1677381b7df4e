# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer))
        self.side = nn.Identity()
        if stride != 1 or inner != outer:
            self.side = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return torch.relu(self.body(x) + self.side(x))


class Model(nn.Module):
    """A small residual network from image to scores."""

    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        widths = [64, 64, 128, 256]
        self.blocks = nn.ModuleList(Block(a, b, 1 if a == b else 2) for a, b in zip(widths, widths[1:]))
        self.head = nn.Linear(256, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=(2, 3)))


def get_inputs():
    return [torch.rand(32, 3, 224, 224)]


def get_init_inputs():
    return [1000]
