# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """A product whose operands come transposed."""

    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.matmul(A.T, B.T)


def get_inputs():
    A = torch.randn(4096, 1024, dtype=torch.bfloat16)
    B = torch.randn(2048, 4096, dtype=torch.bfloat16)
    return [A, B]


def get_init_inputs():
    return []
