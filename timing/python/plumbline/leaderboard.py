# SPDX-License-Identifier: Apache-2.0
"""Public boards: the input sets that the board's own file names, and nothing else, are timed."""

import json

from ._native import PlumblineError
from .case import Workload
from .measure import measure_windows_workloads

_RULES = {
    # FlashInfer-Bench judges three draws of each workload; SOL-ExecBench times the last of ten seeded rounds.
    "flashinfer-bench": lambda problem: problem.get("draws", [0, 1, 2])[:3],
    "sol-execbench": lambda problem: [problem.get("seed", 0) + problem.get("rounds", 10) - 1],
}


def judged_draws(problem):
    """The seeds of the input sets that the board judges, from its problem file (a dict)."""
    board = problem.get("board")
    if board in _RULES:
        draws = _RULES[board](problem)
    elif isinstance(problem.get("draws"), list):
        draws = problem["draws"]
    else:
        raise PlumblineError("leaderboard", "the problem file names neither a board (%s) nor draws"
                             % ", ".join(sorted(_RULES)))
    if not draws or not all(isinstance(d, int) and not isinstance(d, bool) for d in draws):
        raise PlumblineError("leaderboard", "draws must be a list of whole numbers")
    return list(draws)


def _seeded(make_inputs, shape, seeds):
    turn = [0]

    def make(_seed):
        turn[0] += 1
        return make_inputs(shape, seeds[turn[0] % len(seeds)])
    return make


def run_leaderboard_bench(problem_json, *, student, reference, make_inputs, prep=None, out=None, **options):
    """Times a board's problem by the board's own input sets and returns the eval document.

    problem_json: a path to, or the dict of, `eval/leaderboard/problem.json`: {"board": "flashinfer-bench" |
    "sol-execbench", "group": [{"name": …, …shape…}, …], "draws": […] or "seed"/"rounds"}. make_inputs(shape, seed)
    returns a dict of tensors. With more than one entry in `group` the ratio is their geometric mean.
    """
    if isinstance(problem_json, dict):
        problem = problem_json
    else:
        with open(problem_json, encoding="utf-8") as stream:
            problem = json.load(stream)
    group = problem.get("group") or [problem.get("shape") or {}]
    draws = judged_draws(problem)
    workloads = [Workload(str(entry.get("name", "problem")) if isinstance(entry, dict) else str(entry),
                          _seeded(make_inputs, entry, draws), campaign=index == 0,
                          shape=entry if isinstance(entry, dict) else None) for index, entry in enumerate(group)]
    return measure_windows_workloads(workloads, student=student, reference=reference, prep=prep, out=out,
                                     min_workloads=1, require_geometric_mean=False, **options)
