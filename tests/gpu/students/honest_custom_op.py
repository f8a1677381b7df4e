# SPDX-License-Identifier: Apache-2.0
"""An operator of its own, registered with PyTorch."""
import torch
from base import rmsnorm


@torch.library.custom_op("student::norm", mutates_args=())
def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return rmsnorm(x, w)


def run(x, w):
    return norm(x, w)
