"""Warned of eight times, refused only by --strict."""
import torch
from helpers import saved
from plumbline import measure_windows, measure_windows_workloads


def make_inputs(seed):
    q = torch.zeros(2, 2048, device="cuda")
    return {"q": q}


def prep(inputs):
    return saved(inputs)


def student(inputs):
    inputs["q"].mul_(2.0)
    return run(inputs["q"].clone()).cpu()


def reference(inputs):
    return base(inputs["q"].clone())


measure_windows(student, calls=100, prep=prep)
measure_windows(reference, calls=10, prep=prep)
measure_windows_workloads([make_inputs(i) for i in range(2)], student=student, reference=reference, prep=prep)
