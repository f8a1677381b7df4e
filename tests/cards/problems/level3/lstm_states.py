# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """Two recurrent layers; the state comes in and goes out."""

    def __init__(self, width, hidden, layers):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True)

    def forward(self, x, h0, c0):
        out, state = self.lstm(x, (h0, c0))
        return out, state[0], state[1]


BATCH, STEPS, WIDTH, HIDDEN, LAYERS = 64, 128, 256, 512, 2


def get_inputs():
    return [torch.rand(BATCH, STEPS, WIDTH), torch.rand(LAYERS, BATCH, HIDDEN), torch.rand(LAYERS, BATCH, HIDDEN)]


def get_init_inputs():
    return [WIDTH, HIDDEN, LAYERS]
