"""A bench with three defects."""
import kernel
from plumbline import measure_windows_workloads


def prep(inputs):
    return {"lse": kernel.forward(inputs["q"])[1]}


measure_windows_workloads([first, second], student="kernel:backward", reference="reference:backward", prep=prep)
