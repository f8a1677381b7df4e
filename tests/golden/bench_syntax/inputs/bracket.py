import torch

Δ = 1; x = (1,
        2]
