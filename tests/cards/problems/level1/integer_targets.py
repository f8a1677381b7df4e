# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Cross entropy: floating scores, integer targets, one number as the result."""

    def __init__(self):
        super().__init__()

    def forward(self, scores, targets):
        return F.cross_entropy(scores, targets)


batch_size = 32768
num_classes = 4096


def get_inputs():
    return [torch.randn(batch_size, num_classes), torch.randint(0, num_classes, (batch_size,))]


def get_init_inputs():
    return []
