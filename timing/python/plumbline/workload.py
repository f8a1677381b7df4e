# SPDX-License-Identifier: Apache-2.0
"""What a bench author says of one workload."""

import ast
import os


class Workload:
    """What is timed: `make_inputs(seed)` (or without a parameter) returns a dict of tensors and plain values.

    name: its name in the report. campaign: this is the workload whose table is priced. tolerance: relative error that
    an output may have (default by dtype). outputs: names of inputs that a call writes in place of returning. shape:
    free facts for the report. draws: where somebody else has fixed the input sets that are judged, a list of
    (seed, rounds): every generator is seeded with `seed`, make_inputs(seed), make_inputs(seed + 1), ... are called `rounds`
    times, and the last of them is judged. The windows then rotate over these contents and no other; the A/A run, the
    sealed windows and a comparison that follows use fresh ones.
    """

    def __init__(self, name, make_inputs, *, campaign=False, tolerance=None, outputs=(), shape=None, draws=None):
        self.name = name
        self.make_inputs = make_inputs
        self.campaign = campaign
        self.tolerance = tolerance
        self.outputs = tuple(outputs)
        self.shape = shape
        self.draws = list(draws) if draws else None
        self.fresh_inputs = make_inputs  # where contents are made that nobody has fixed
        self.notes = []


def names_in_source(target, paths):
    """The parameter names of "module:function" read from its file without running it, or None."""
    module, _, function = target.partition(":")
    for path in paths:
        file = os.path.join(path, *module.split(".")) + ".py"
        if not os.path.isfile(file):
            continue
        try:
            with open(file, encoding="utf-8") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            return None
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == function and node.args.kwarg is None:
                return [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        return None
    return None
