# SPDX-License-Identifier: Apache-2.0
"""A bench: the two sides, the parent's own session, and the order in which workloads are read."""

import os

from . import _native as native
from . import backends, evidence, machine, sides
from . import boundary as boundaries
from ._native import PlumblineError
from .workload_run import WorkloadRun


class Bench:
    """The two sides, the parent's own session, and the loop over the workloads."""

    def __init__(self, workloads, student, reference, prep, options, paths):
        self.workloads, self.student_target, self.reference_target = list(workloads), student, reference
        if not self.workloads:
            raise PlumblineError("usage", "no workloads")
        self.prep, self.options, self.paths = prep, options, [os.path.abspath(p) for p in paths]
        self.boundary, note = boundaries.load(self.paths)
        self.notes, self.overhead = [note] if note else [], None
        # Before anything of the student runs: what it writes over later is seen.
        self.files = evidence.files(self.boundary.folder) if self.boundary else {}
        self.backend = backends.choose()
        self.isolated = isinstance(student, str) and isinstance(reference, str)
        self.student = self.reference = None
        self.refused = []
        self.precision = {"ref": None, "student": None}
        self.gpu_processes = None
        self._loaded = False
        if self.isolated:
            directory = self.paths[-1]
            self.reference = sides.RemoteSide(reference, self.paths, directory, options["load_limit_s"])
            self.reference.sees_reference = True
            # It starts while the reference is read in quiet; nothing of the student is in it before _load_student().
            self.student = sides.RemoteSide(student, self.paths, directory, options["load_limit_s"])
        self.session = self.backend.open_session()
        self.reference_function = sides.local_function(reference, self.paths)
        if not self.isolated:
            self.notes.append("not isolated: student and reference ran in the harness's own process")
            self.reference = sides.LocalSide(self.session, self.backend, self.reference_function)
            self.student = sides.LocalSide(self.session, self.backend, sides.local_function(student, self.paths),
                                         "student here")

    def close(self):
        """Ends the children."""
        for side in (self.student, self.reference):
            if side is not None:
                side.close()
        if self.backend.name != "scripted":
            self.session.close()

    def run(self):
        """The result block of each workload."""
        if not any(w.campaign for w in self.workloads):
            self.workloads[0].campaign = True
        runs = [WorkloadRun(self, workload) for workload in self.workloads]
        for one in runs:
            one.open()
            one.read_quiet("before")
        self.count_gpu_processes("before")
        done = []
        for one in runs:
            one.run()
            done.append(one)
            if set(one.case.findings) & {"time-limit", "worker-died", "worker-answer"}:
                self.notes.append("the student's process ended: the workloads after %s were not run" % one.workload.name)
                break
        if self.isolated:
            self.student.close()  # with everything that it started
        self.count_gpu_processes("after")
        results = []
        for one in done:
            one.read_quiet("after")
            results.append(one.result())
        for one in runs:
            one.close()
        if self.boundary:
            for path in evidence.changed(self.files, evidence.files(self.boundary.folder)):
                self.refused.append("%s changed while it was measured [files-changed]" % path)
        return results

    def count_gpu_processes(self, when):
        """Notes how many processes NVML sees on the GPU that are not the harness's own."""
        known = [os.getpid()] + [s.process for s in (self.student, self.reference) if getattr(s, "process", None)]
        counts = self.session.gpu_processes(known)
        if counts is None:
            return
        self.gpu_processes = dict(self.gpu_processes or {}, **{when: {"all": counts[0], "foreign": counts[1]}})

    def about(self):
        """What the eval says beside the workloads, as a plain dict."""
        return {"machine": dict(machine.describe(self.session, self.backend), gpu_processes=self.gpu_processes),
                "evidence": evidence.block(self.boundary, self.files, self.precision),
                "prep": self.prep is not None, "refused": self.refused,
                "harness": {"name": "plumbline", "version": native.version(),
                            "isolation": "process" if self.isolated else "none", "order": "ABBA",
                            "noise": self.options["noise"], "time_limit_s": self.options["time_limit_s"],
                            "cold": self.options["cold"], "overhead": self.overhead, "notes": self.notes}}
