# SPDX-License-Identifier: Apache-2.0
"""Readings of GPU work that survive a student that would cheat.

`measure_windows` reads one callable; `measure_windows_workloads` compares a student with a reference and writes the
eval JSON; `run_leaderboard_bench` does so over a public board's own inputs. PyTorch is needed only once tensors are.
`plumbline.tool` is the command line as functions: contracts, profiles, comparisons, predictions, searches, the ledger.
"""

from ._native import PlumblineError, describe, version
from .leaderboard import run_leaderboard_bench
from .measure import measure_windows, measure_windows_workloads
from .recorder import record_calls, recording
from .session import Session
from .workload import Workload

__version__ = version()
__all__ = ["PlumblineError", "Session", "Workload", "describe", "measure_windows", "measure_windows_workloads",
           "record_calls", "recording", "run_leaderboard_bench", "version"]
