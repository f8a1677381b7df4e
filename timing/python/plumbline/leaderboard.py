# SPDX-License-Identifier: Apache-2.0
"""Public boards: the input sets that the board judges, and no others, are timed."""

import importlib
import os
import sys
import tempfile

from . import backends, board, measure
from .board import refuse
from .workload import Workload

# How each board comes to the input sets that it times, as (seed, rounds) of Workload(draws=). FlashInfer-Bench draws three
# sets of each workload from generators that it does not seed, and takes the mean over them. SOL-ExecBench seeds once,
# with 200 by default, draws ten sets for its checks, and times the last. KernelBench seeds with 42 and times that one set.
_DEFAULTS = {"flashinfer-bench": {"seed": 0, "draws": 3}, "sol-execbench": {"seed": 200, "rounds": 10},
             "kernelbench": {"seed": 42, "draws": 1}}
_MODULE = "plumbline_board_reference"


def _whole(problem, key, least):
    value = problem[key]
    if type(value) is not int or not least <= value < 1 << 31:
        raise refuse("%s is %r, no whole number from %d on" % (key, value, least))
    return value


def judged_draws(problem):
    """The (seed, rounds) of the input sets that the board judges, from its problem file (a dict). "draws": how many sets
    are judged, or a list of seeds of one draw each."""
    name = problem.get("board")
    if name not in _DEFAULTS and not problem.get("draws"):
        raise refuse("the problem file names neither a board (%s) nor draws" % ", ".join(sorted(_DEFAULTS)))
    rules = dict(_DEFAULTS.get(name, {"seed": 0}))
    rules.update({key: problem[key] for key in ("seed", "rounds", "draws") if problem.get(key) is not None})
    draws = rules.get("draws")
    if isinstance(draws, list):
        if not draws or not all(type(d) is int and 0 <= d < 1 << 31 for d in draws):
            raise refuse("draws must be a number, or a list of whole numbers from 0 on")
        return [(seed, 1) for seed in draws]
    seed = _whole(rules, "seed", 0)
    if "rounds" in rules:
        return [(seed, _whole(rules, "rounds", 1))]
    return [(seed, number + 1) for number in range(_whole(rules, "draws", 1))]


def load_problem(source):
    """The problem as a dict, its paths made whole. `source`: a problem.json or the dict of one; a problem folder of
    SOL-ExecBench (definition.json beside workload.jsonl); or a definition in a trace set of FlashInfer-Bench
    (definitions/TYPE/NAME.json, its workloads in workloads/TYPE/NAME.jsonl)."""
    if isinstance(source, dict):
        return _with_files(dict(source), os.getcwd())
    path = os.path.abspath(source)
    if os.path.isdir(path):
        return _with_files({"board": "sol-execbench", "definition": "definition.json", "workloads": "workload.jsonl"}, path)
    problem = board.read_json(path)
    if not isinstance(problem, dict):
        raise refuse("%s holds no object" % path)
    if "axes" in problem and "inputs" in problem and "reference" in problem:
        root, _, inside = path.rpartition(os.sep + "definitions" + os.sep)
        if not root:
            raise refuse("%s is a definition, but lies in no folder definitions/ of a trace set" % path)
        lines = os.path.join(root, "workloads", os.path.splitext(inside)[0] + ".jsonl")
        return _with_files({"board": "flashinfer-bench", "definition": problem, "workloads": lines, "root": root}, root)
    return _with_files(problem, os.path.dirname(path))


def _with_files(problem, folder):
    definition = problem.get("definition")
    if definition is None:
        return problem
    if isinstance(definition, str):
        definition = board.read_json(os.path.join(folder, definition))
    problem["definition"] = board.check_definition(definition)
    rows = problem.get("workloads")
    if isinstance(rows, str):
        rows = board.read_lines(os.path.join(folder, rows))
    if not isinstance(rows, list):
        raise refuse("the problem has a definition, but \"workloads\" is neither a file nor a list")
    problem["workloads"] = board.workloads_of(rows, problem["definition"])
    roots = [os.path.join(folder, problem["root"])] if isinstance(problem.get("root"), str) else []
    problem["roots"] = roots + [folder] + [os.environ[name] for name in ("FLASHINFER_TRACE_DIR", "FIB_DATASET_PATH")
                                           if os.environ.get(name)]
    return problem


def _chosen(problem):
    """The workloads of the board that the group names by uuid (all of them without a group)."""
    known = problem["workloads"]
    group = problem.get("group")
    if group is None:
        return list(known.values())
    if not isinstance(group, list) or not group:
        raise refuse("group is not a list of workloads")
    uuids = [entry.get("uuid") if isinstance(entry, dict) else entry for entry in group]
    missing = [str(u) for u in uuids if not isinstance(u, str) or u not in known]
    if missing:
        raise refuse("group names %s, which is not a workload of %s" % (missing[0], problem["definition"]["name"]))
    return [known[u] for u in uuids]


def _reference_module(definition, folder):
    """Writes the board's reference into `folder` and loads it."""
    source = definition.get("reference")
    if not isinstance(source, str):
        raise refuse("the definition of %s has no reference" % definition["name"])
    with open(os.path.join(folder, _MODULE + ".py"), "w", encoding="utf-8") as out:
        out.write(source)
    sys.modules.pop(_MODULE, None)
    importlib.invalidate_caches()
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(_MODULE)
    except Exception as error:
        raise refuse("the reference of %s does not load: %s: %s" % (definition["name"], type(error).__name__,
                                                                   error)) from None
    finally:
        sys.path.remove(folder)
    if not callable(getattr(module, "run", None)):
        raise refuse("the reference of %s defines no run()" % definition["name"])
    return module


def _device(backend):
    if backend.name != "torch":
        return "cpu"
    return backend.torch.device("cuda:%d" % backend.device)


def _board_workloads(problem, draws, module):
    backend = backends.choose()
    definition = problem["definition"]
    named = definition.get("custom_inputs_entrypoint")
    custom = getattr(module, named, None) if isinstance(named, str) else None
    entrypoint = (lambda axes: custom(axes, _device(backend))) if callable(custom) else None
    made = []
    for index, row in enumerate(_chosen(problem)):
        inputs = board.BoardInputs(backend, definition, row, problem["roots"], entrypoint)
        workload = Workload(row["uuid"], inputs, campaign=index == 0, shape=inputs.axes, draws=draws)
        workload.fresh_inputs = inputs.fresh
        if not inputs.varies:
            workload.notes.append("all inputs are integers or numbers from files: their contents cannot be made anew, so a "
                                  "student that keeps results is found only where it keeps them by pointer")
        made.append(workload)
    return made


def board_inputs(source, name=None):
    """make_inputs(seed) of a workload of load_problem(source), for a launch script: the first, or the one of that name."""
    problem = load_problem(source)
    with tempfile.TemporaryDirectory(prefix="plumbline-board") as folder:
        made = _board_workloads(problem, None, _reference_module(problem["definition"], folder))
    chosen = [one for one in made if name in (None, one.name)]
    if not chosen:
        raise refuse("%s is not a workload of the problem" % name)
    backend = backends.choose()

    def make_inputs(seed):
        backend.seed(seed)
        return chosen[0].make_inputs()
    return make_inputs


def _own_workloads(problem, draws, make_inputs):
    group = problem.get("group") or [problem.get("shape") or {}]
    if not isinstance(group, list):
        raise refuse("group is not a list")
    workloads = []
    for index, entry in enumerate(group):
        name = str(entry.get("name", "problem%d" % index)) if isinstance(entry, dict) else str(entry)
        workloads.append(Workload(name, lambda seed, entry=entry: make_inputs(entry, seed), campaign=index == 0,
                                  shape=entry if isinstance(entry, dict) else None, draws=draws))
    return workloads


def run_leaderboard_bench(problem_json=None, *, student="kernel:run", reference=None, make_inputs=None, prep=None, out=None,
                          paths=None, **options):
    """Times a board's problem on the board's own input sets and returns the eval document.

    problem_json: what load_problem() reads (default: leaderboard/problem.json beside the bench). A problem.json says
    {"board": "flashinfer-bench" | "sol-execbench" | "kernelbench"}, and either "definition" and "workloads" (the board's own files or
    their contents; "group" then chooses workloads by uuid, "root" is where safetensors lie), or "group": [{"name": ...,
    ...shape...}, ...] with make_inputs(entry, seed) here. "seed", "rounds" and "draws" replace the board's defaults.
    reference: default the board's own. With more than one workload the ratio is their geometric mean.
    """
    if problem_json is None:
        problem_json = os.path.join(measure.default_paths()[0], "leaderboard", "problem.json")
    problem = load_problem(problem_json)
    draws = judged_draws(problem)
    paths = list(paths or measure.default_paths())
    with tempfile.TemporaryDirectory(prefix="plumbline-board") as folder:
        if make_inputs is not None:
            workloads = _own_workloads(problem, draws, make_inputs)
        elif "definition" in problem:
            module = _reference_module(problem["definition"], folder)
            workloads = _board_workloads(problem, draws, module)
            options.setdefault("op", problem["definition"]["name"])
            if reference is None:
                reference, paths = _MODULE + ":run", [folder] + paths
        else:
            raise refuse("the problem has no definition, so make_inputs= must be given")
        if reference is None:
            raise refuse("the problem has no definition, so reference= must be given")
        return measure.measure_windows_workloads(workloads, student=student, reference=reference, prep=prep, out=out,
                                                 min_workloads=1, require_geometric_mean=False, paths=paths, **options)
