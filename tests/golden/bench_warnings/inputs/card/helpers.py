import importlib


def saved(inputs):
    return importlib.import_module("kernel").forward(inputs)
