# SPDX-License-Identifier: Apache-2.0
"""A hook on every module does the work, when something calls one after the window."""
# Caught as: mode-active wrong-output
import torch
from base import rmsnorm

torch.nn.modules.module.register_module_forward_hook(lambda *_: None)


def run(x, w):
    return rmsnorm(x, w)
