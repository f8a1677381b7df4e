# SPDX-License-Identifier: Apache-2.0
"""The tool from Python: contracts, profiles, comparisons, predictions, searches and the ledger.

Every function runs the `plumbline` that came with this package (or $PLUMBLINE, or the one on PATH) with `--json` and returns a `Report`: the
tool's own document, its rows as plain dictionaries for a data frame, and its page in a notebook. Nothing is computed twice here, so a
script and the command line say the same.

>>> from plumbline import tool
>>> best = tool.rank(hardware="h200").rows[0]
>>> best["rank"], best["name"]
(1, 'deep_narrow')
"""

from __future__ import annotations

import html
import json
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

PathLike = Union[str, "os.PathLike[str]"]
Row = Dict[str, Any]
LayerLike = Union[str, Mapping[str, Any]]

FINE, GATE_FAILED, UNREADABLE, REFUSED = 0, 1, 2, 13
"""What the tool's exit status means: all well; judged and not passed; the input cannot be used; refused before anything was judged."""


class ToolError(ValueError):
    """The input cannot be used. `reasons` are the tool's diagnostics: code, message, file, line, column, fix."""

    def __init__(self, message: str, reasons: Sequence[Row] = ()):
        super().__init__(message)
        self.reasons = list(reasons)


@dataclass
class Report:
    """What a command said."""

    document: Any
    """The JSON document, as the tool printed it."""
    rows: List[Row]
    """The document's rows, one flat dictionary each: `pandas.DataFrame(report.rows)`."""
    status: int
    """The exit status: FINE, GATE_FAILED or REFUSED."""
    notes: List[str] = field(default_factory=list)
    """Notes and warnings, a line each."""
    _page: Optional[List[str]] = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        """True where the status is FINE."""
        return self.status == FINE

    def page(self) -> str:
        """The report as one HTML file. Raises ToolError for a command that writes none."""
        if self._page is None:
            raise ToolError("this command writes no page")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            done = _run([*self._page, "--html", path])
            if not os.path.exists(path):
                raise ToolError(done.stderr.strip() or "no page was written")
            with open(path, encoding="utf-8") as stream:
                return stream.read()

    def _repr_html_(self) -> Optional[str]:
        """The page in a frame of its own, so that its style and a notebook's do not meet."""
        if self._page is None:
            return None
        return ('<iframe title="plumbline" sandbox="allow-scripts" style="width:100%%;height:40em;border:0" srcdoc="%s"></iframe>'
                % html.escape(self.page(), quote=True))


def binary() -> str:
    """The tool's path: $PLUMBLINE, the one in this package, or the one on PATH."""
    named = os.environ.get("PLUMBLINE")
    if named:
        return named
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tool", "plumbline")
    if os.path.exists(own):
        if not os.access(own, os.X_OK):  # an installer that keeps no modes
            os.chmod(own, os.stat(own).st_mode | stat.S_IXUSR)
        return own
    found = shutil.which("plumbline")
    if found:
        return found
    raise ToolError("no plumbline: set PLUMBLINE to its path")


def run(*arguments: PathLike) -> subprocess.CompletedProcess:
    """Any command, as it is: the completed process with its text.

    >>> run("--version").stdout.split()[0]
    'plumbline'
    """
    return _run([os.fspath(a) for a in arguments])


def _run(arguments: List[str]) -> subprocess.CompletedProcess:
    return subprocess.run([binary(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="replace", check=False)


def _ask(arguments: List[str], with_page: bool = False, rows=None) -> Report:
    """Runs a command with --json. A document that says why it cannot be used is raised, with its reasons."""
    done = _run([*arguments, "--json"])
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise ToolError(done.stderr.strip() or "plumbline: exit status %d" % done.returncode) from None
    if done.returncode not in (FINE, GATE_FAILED, REFUSED):
        reasons = document.get("reasons", []) if isinstance(document, dict) else []
        raise ToolError("; ".join(r["message"] for r in reasons) or done.stderr.strip(), reasons)
    found = rows(document) if rows else document
    return Report(document, list(found), done.returncode, done.stderr.splitlines(), arguments if with_page else None)


def _options(**given: Any) -> List[str]:
    """--name value for what is given; a list repeats, True is a flag."""
    out: List[str] = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            out.append(option)
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            out += [option, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return out


def _layers(layers: Optional[Sequence[LayerLike]]) -> Optional[List[str]]:
    """Layers as the command line takes them: a built-in's name, "field=value,…", or a mapping of fields."""
    if layers is None:
        return None
    return [one if isinstance(one, str) else ",".join("%s=%s" % (k, _word(v)) for k, v in one.items()) for one in layers]


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_contract(card: PathLike) -> Report:
    """Holds a card's `window.toml` to the rules. Rows are its findings; REFUSED while a difference is undeclared.

    >>> check_contract("operators/attention_backward").passed
    True
    """
    return _ask(["start", os.fspath(card)], rows=lambda d: d["findings"])


def import_profile(path: PathLike, *, calls: Optional[int] = None, format: Optional[str] = None, range: Optional[str] = None,
                   device: Optional[int] = None, process: Optional[int] = None) -> Report:
    """Reads a profiler's file as a kernel table (`plumbline-table/1`). Rows are its kernels: `name`, `identity`, `launches`, `time_ns`, ….

    >>> table = import_profile("operators/attention_backward/runs/h200_price/ref.ncu.csv", calls=2)
    >>> table.document["time_ns_per_call"]
    465296
    """
    return _ask(["import", os.fspath(path), *_options(calls=calls, format=format, range=range, device=device, process=process)],
                rows=lambda d: d["kernels"])


def confirm(card: PathLike, *, run: Optional[str] = None, eval: Optional[PathLike] = None, student_table: Optional[PathLike] = None,
            ref_table: Optional[PathLike] = None, gate: Optional[float] = None, calls: Optional[int] = None,
            against: Optional[str] = None, bank: bool = False, ledger: Optional[str] = None) -> Report:
    """Judges a recorded comparison. Rows are its workloads; the ratios are in `document["numbers"]`. `bank` keeps it in the ledger.

    >>> report = confirm("operators/attention_backward", run="h200_price")
    >>> report.status == GATE_FAILED, round(report.document["numbers"]["credited_ratio"], 3)
    (True, 1.0)
    """
    return _ask(["confirm", os.fspath(card), *_options(run=run, eval=eval, student_table=student_table, ref_table=ref_table, gate=gate,
                                                       calls=calls, against=against, bank=bank, ledger=ledger)],
                with_page=True, rows=lambda d: d.get("workloads") or [])


def predict(layers: Optional[Sequence[LayerLike]] = None, *, hf: Optional[PathLike] = None, hardware: Optional[str] = None,
            model: Optional[str] = None, source: Optional[str] = None, phase: Optional[str] = None, seq_len: Optional[int] = None,
            batch_size: Optional[int] = None, tp: Optional[int] = None, ep: Optional[int] = None, dtype: Optional[str] = None,
            kv_dtype: Optional[str] = None) -> Report:
    """Predicts layers (or, with `hf`, a whole model) kernel by kernel. Rows are kernels of layers: `layer`, `kernel`, `ms`, `low_ms`, …; of a
    whole model the document says more. `tp`, `ep`, `dtype` and `kv_dtype` lay a whole model out; layers say them themselves.

    >>> [row["kernel"] for row in predict(["llama3_8b"]).rows][:2]
    ['pre_attn_rmsnorm', 'qkv_projection']
    """
    arguments = _options(layer=_layers(layers), hf=hf, hardware=hardware, model=model, source=source, phase=phase)
    arguments += _options(seq_len=seq_len, batch_size=batch_size, tp=tp, ep=ep, dtype=dtype, kv_dtype=kv_dtype)
    return _ask(["arch", "predict", *arguments], rows=_kernels)


def _kernels(document: Any) -> List[Row]:
    if not isinstance(document, list):
        return []
    rows = []
    for layer in document:
        for kernel in layer["kernels"]:
            named = {("kernel" if k == "name" else k): v for k, v in kernel.items()}
            rows.append({"layer": layer["name"], "hardware": layer["hardware"], **named})
    return rows


def rank(layers: Optional[Sequence[LayerLike]] = None, *, configs: Optional[PathLike] = None, hardware: Optional[str] = None,
         model: Optional[str] = None, source: Optional[str] = None, by: Optional[str] = None, top: Optional[int] = None) -> Report:
    """Orders layers by their predicted time (the built-in ones where none are given). Rows: `rank`, `name`, `total_ms`, `low_ms`, …."""
    return _ask(["arch", "rank", *_options(layer=_layers(layers), configs=configs, hardware=hardware, model=model, source=source, by=by,
                                           top=top)], with_page=True)


def sweep(dims: Sequence[str], *, layer: Optional[LayerLike] = None, hardware: Optional[str] = None, model: Optional[str] = None,
          source: Optional[str] = None) -> Report:
    """Walks dimensions ("hidden_dim=3840:4352:32") size by size. Rows: `dimension`, `value`, `total_ms`, `step_pct`, ….

    >>> [row["value"] for row in sweep(["hidden_dim=4096:4224:64"]).rows]
    [4096, 4160, 4224]
    """
    one = None if layer is None else (_layers([layer]) or [None])[0]
    return _ask(["arch", "sweep", *_options(dim=list(dims), layer=one, hardware=hardware, model=model, source=source)], with_page=True,
                rows=lambda d: [{"dimension": s["dimension"], **v} for s in d for v in s["values"]])


def search(space: PathLike, *, threads: Optional[int] = None) -> Report:
    """Searches a space of shapes exactly. Rows are the best shapes in order: `rank`, `objective`, the dimensions and the quantities.

    >>> search("spaces/llama3_8b.toml").rows[0]["rank"]
    1
    """
    return _ask(["arch", "search", os.fspath(space), *_options(threads=threads)], with_page=True, rows=_shapes)


def _shapes(document: Any) -> List[Row]:
    return [{"rank": n, "number": shape["number"], "objective": shape["objective"], **shape["dimensions"], **shape["quantities"]}
            for n, shape in enumerate(document["best"], 1)]


def runs(card: Optional[PathLike] = None, *, ledger: Optional[str] = None, last: Optional[int] = None) -> Report:
    """The banked runs, newest first, a row each."""
    return _ask(["ledger", "list", *([os.fspath(card)] if card is not None else []), *_options(ledger=ledger, last=last)],
                rows=lambda d: d["runs"] if isinstance(d, dict) else d)


def trend(card: PathLike, *, ledger: Optional[str] = None, last: Optional[int] = None, series: Optional[int] = None) -> Report:
    """A card's runs over time, oldest first, a row each; the steps are in `document["changes"]`."""
    return _ask(["ledger", "trend", os.fspath(card), *_options(ledger=ledger, last=last, series=series)], with_page=True,
                rows=lambda d: d["runs"])


def diff(before: Union[int, str], after: Union[int, str], *, card: Optional[PathLike] = None, ledger: Optional[str] = None) -> Report:
    """What stands between two banked runs (numbers, idents, names or "last"). Rows are their workloads: `before`, `after`, `change`, `moved`, …."""
    return _ask(["ledger", "diff", str(before), str(after), *_options(card=card, ledger=ledger)], rows=lambda d: d["workloads"])
