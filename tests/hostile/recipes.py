# SPDX-License-Identifier: Apache-2.0
"""The commands of the tool, each with files that it reads, one of which is to be hostile."""
import glob
import os
import shutil
import sqlite3
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_BYTES = 400_000  # of a seed: larger ones only take longer


def _under(*pattern):
    return sorted(f for f in glob.glob(os.path.join(ROOT, *pattern)) if os.path.isfile(f) and os.path.getsize(f) <= MOST_BYTES)


class Seeds:
    """Honest files of every kind; databases and a ledger are made once in `folder`."""

    def __init__(self, plumbline, folder):
        self.profiles = _under("tests", "profile", "variants", "*.[cjt]*") + _under("tests", "data", "*", "*.*")
        for script in _under("tests", "profile", "variants", "*.sql"):
            made = os.path.join(folder, os.path.basename(script)[:-4] + ".sqlite")
            with open(script, encoding="utf-8") as stream, sqlite3.connect(made) as database:
                try:
                    database.executescript(stream.read())
                    self.profiles.append(made)
                except sqlite3.Error:
                    pass
        self.tables = [f for f in _under("tests", "profile", "variants", "table*.json")] + _under("operators", "*", "runs", "*", "*.table.json")
        self.contracts = _under("operators", "*", "window.toml") + _under("tests", "golden", "window_*", "window.toml")
        self.benches = _under("operators", "*", "eval", "*.py") + _under("tests", "golden", "bench_*", "inputs", "*.py")
        self.evals = _under("operators", "*", "runs", "*", "eval.json") + _under("tests", "golden", "confirm_bad_evals", "good.json")
        self.hf = _under("tests", "unit", "model", "configs", "*.json")
        self.layers = _under("tests", "golden", "arch_*", "layers.*")
        self.hardware = _under("tests", "golden", "hardware_show", "*.toml") + _under("hardware", "[tl]*.toml")
        self.rows = _under("tests", "golden", "hardware_measured", "*.csv")
        self.spaces = _under("tests", "golden", "search_*", "*.toml") + _under("tests", "unit", "search", "*.toml")
        self.problems = _under("tests", "cards", "problems", "**", "*.json") + _under("tests", "cards", "problems", "*.py")
        self.cards = [os.path.join(ROOT, "operators", name) for name in ("attention_backward", "attention_backward_prep", "rmsnorm_residual")]
        self.runs = os.path.join(folder, "runs.jsonl")
        with open(self.runs, "wb") as stream:
            subprocess.run([sys.executable, os.path.join(ROOT, "tests", "golden", "ledger_runs", "make.py")], stdout=stream, check=True)
        self.ledger = os.path.join(folder, "seed.db")
        subprocess.run([plumbline, "ledger", "import", self.runs, "--ledger", self.ledger], check=True, stdout=subprocess.DEVNULL)
        self.artifact = os.path.join(folder, "artifact.json")
        subprocess.run([plumbline, "arch", "report", "--hardware", "a100", "--model", "proxy", "--layer", "llama3_8b", "--json-output", self.artifact],
                       check=True, stdout=subprocess.DEVNULL)


def _copy(source, folder, name=None):
    target = os.path.join(folder, name or os.path.basename(source))
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def _profile(chance, seeds, folder):
    file = _copy(chance.choice(seeds.profiles), folder)
    options = []
    if chance.random() < 0.3:
        options += ["--calls", chance.choice(("1", "2", "0", "-1", "99999999999999999999", "x"))]
    if chance.random() < 0.2:
        options += ["--range", chance.choice(("a", "ProfilerStep#", "\x1b[2J", "", "@"))]
    if chance.random() < 0.1:
        options += ["--format", chance.choice(("ncu-csv", "nsys-sqlite", "torch-trace", "table", "proton", "rocpd"))]
    if chance.random() < 0.2:
        options.append("--ranks")
    return ["import", file, *options, *chance.choice(([], ["--md"]))], [file], "-o"


def _stdin(chance, seeds, folder):
    file = _copy(chance.choice(seeds.profiles), folder)
    return ["import", "-"], [file], "stdin"


def _table(chance, seeds, folder):
    a, b = _copy(chance.choice(seeds.tables + seeds.profiles), folder, "a"), _copy(chance.choice(seeds.tables + seeds.profiles), folder, "b")
    if chance.random() < 0.5:
        return ["table", "show", a, *chance.choice(([], ["--md"]))], [a], None
    return ["table", "diff", a, b, *chance.choice(([], ["--md"]))], [a, b], None


def _window(chance, seeds, folder):
    file = _copy(chance.choice(seeds.contracts), folder, "window.toml")
    return ["window", "show", file, *chance.choice(([], ["--md"]))], [file], None


def _card_files(card):
    return [f for f in glob.glob(os.path.join(card, "**", "*"), recursive=True) if os.path.isfile(f) and os.path.getsize(f) <= MOST_BYTES]


def _card(chance, seeds, folder):
    card = _copy(chance.choice(seeds.cards), folder, "card")
    files = _card_files(card)
    words = chance.choice((["start", card], ["start", "--strict", card], ["confirm", card], ["confirm", card, "--md"], ["run", card, "--no-reference"],
                           ["ledger", "add", card, "--ledger", os.path.join(folder, "l.db")], ["confirm", card, "--bank"]))
    return words, files, None


def _confirm(chance, seeds, folder):
    card = _copy(chance.choice(seeds.cards), folder, "card")
    files = [_copy(chance.choice(seeds.evals), folder, "e.json")]
    words = ["confirm", card, "--eval", files[0]]
    for flag in ("--student-table", "--ref-table"):
        if chance.random() < 0.5:
            files.append(_copy(chance.choice(seeds.tables + seeds.profiles), folder, flag[2:]))
            words += [flag, files[-1]]
    if chance.random() < 0.2:
        words += ["--gate", chance.choice(("nan", "inf", "-1", "0", "1e400", "x", "1"))]
    return words + chance.choice(([], ["--md"])), files, None


def _prep(chance, seeds, folder):
    contract, report = _copy(chance.choice(seeds.contracts), folder, "window.toml"), _copy(chance.choice(seeds.evals), folder, "e.json")
    return ["prep", contract, report], [contract, report], None


def _bench(chance, seeds, folder):
    file, other = _copy(chance.choice(seeds.benches), folder, "bench.py"), _copy(chance.choice(seeds.benches), folder, "ncu_run.py")
    return ["bench", file, *chance.choice(([], ["--no-prep"], ["--ncu", other], ["--strict", "--ncu", other]))], [file, other], None


def _ledger_file(chance, seeds, folder):
    file = _copy(seeds.runs, folder)
    return ["ledger", "import", file, "--ledger", os.path.join(folder, "l.db"), *chance.choice(([], ["--each"]))], [file], None


def _ledger(chance, seeds, folder):
    file = _copy(seeds.ledger, folder, "l.db")
    words = chance.choice((["list"], ["verify"], ["export", "--format", "csv"], ["export"], ["show", "last"], ["show", "3", "--part", "verdict"],
                           ["trend", "scan"], ["diff", "1", "2"], ["gc", "--older-than", "30d", "--dry-run"], ["show", "\x1b[2J"]))
    return ["ledger", *words, "--ledger", file], [file], "-o" if words[0] == "export" else None


def _hardware(chance, seeds, folder):
    file = _copy(chance.choice(seeds.hardware), folder, "mine.toml")
    rows = _copy(chance.choice(seeds.rows), folder)
    words = chance.choice((["show", file], ["validate", file, rows], ["predict", file, "--op", "gemm", "--rows", rows]))
    return ["hardware", *words], [file, rows] if words[0] != "show" else [file], None


def _calibrate(chance, seeds, folder):
    files = [_copy(f, folder) for f in chance.sample([f for f in seeds.rows if "shapes" not in f and "gemm" not in f], 2)]
    return ["hardware", "calibrate", *files, "--name", "h200", "--source", "tiny"], files, "-o"


def _arch(chance, seeds, folder):
    kind = chance.randrange(4)
    if kind == 0:
        file = _copy(chance.choice(seeds.hf), folder, "config.json")
        return ["arch", "predict", "--hardware", "a100", "--model", "proxy", "--hf", file], [file], None
    if kind == 1:
        file = _copy(chance.choice(seeds.layers), folder)
        return ["arch", chance.choice(("predict", "rank")), "--hardware", "a100", "--model", "proxy", "--configs", file], [file], None
    if kind == 2:
        a, b = _copy(seeds.artifact, folder, "a.json"), _copy(seeds.artifact, folder, "b.json")
        return ["arch", "compare", a, b, *chance.choice(([], ["--md"], ["--fail-above", "2"]))], [a, b], None
    file = _copy(chance.choice(seeds.layers), folder)
    return ["arch", "report", "--hardware", "a100", "--model", "proxy", "--configs", file], [file], chance.choice(("--json-output", "--md-output"))


def _search(chance, seeds, folder):
    if not seeds.spaces:
        return _arch(chance, seeds, folder)
    file = _copy(chance.choice(seeds.spaces), folder, "space.toml")
    return ["arch", "search", file], [file], None


def _init(chance, seeds, folder):
    if not seeds.problems:
        return _bench(chance, seeds, folder)
    file = _copy(chance.choice(seeds.problems), folder)
    return ["card", "init", os.path.join(folder, "new"), "--from", file], [file], None


WORDS = ("", "-", "--", "--json", "--x", "\x1b[31m", "\u202e", "a" * 5000, "=1", "-o", "--gate", "nan", "1e999", "/", ".", "..", "/dev/null", "show",
         "import", "confirm", "window", "--help", "\xff", "explain", "--all", "--md", "llama3_8b", "hidden_dim=1:9", "--layer", "--dim", "%s")


def _words(chance, _seeds, _folder):
    first = chance.choice((["explain"], ["completion"], ["window"], ["arch", "predict", "--layer"], ["arch", "sweep", "--dim"], ["ledger"], [],
                           ["hardware", "show"], ["arch", "cliffs", "--gemm"], ["record", "--"], ["table"], ["man"]))
    words = first + [chance.choice(WORDS) for _ in range(chance.randrange(4))]
    if words[:1] == ["record"]:
        words = ["record", "--limit", chance.choice(("nan", "0", "-1", "inf", "x")), "--", "true"]
    return words, [], None


RECIPES = ((_profile, 28), (_stdin, 5), (_table, 8), (_window, 12), (_card, 12), (_confirm, 8), (_prep, 4), (_bench, 6), (_ledger_file, 4), (_ledger, 6),
           (_hardware, 5), (_calibrate, 1), (_arch, 10), (_search, 2), (_init, 3), (_words, 5))


def choose(chance, seeds, folder):
    """(words of a command, the files that may be hostile, how its output is named: a flag, "stdin" for its input, or None)."""
    recipe = chance.choices([r for r, _ in RECIPES], [w for _, w in RECIPES])[0]
    return recipe(chance, seeds, folder)
