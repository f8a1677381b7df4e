# SPDX-License-Identifier: Apache-2.0
"""The parent's own clock beside what a child reports. The parent releases a window and sees the GPU's closing mark: what lies
between is a little longer than the window, by as much on both sides. The reference's process is trusted with that much."""

import statistics

from . import _native as native

MARGIN = 0.02     # a reading may be this much under what the parent saw ...
_BEHIND_MS = 0.06  # the student's device may be idle this much later after the closing mark than the reference's
_SLACK_MS = 0.012  # ... and this much for the jitter of one window: a few microseconds either way on a quiet host


class Clock:
    """Windows of a comparison as (seen by the parent, reported by the child), both in ms."""

    def __init__(self):
        self.restart()

    def restart(self):
        """Forgets everything: the comparison begins anew."""
        self._windows = {"ref": [], "student": []}
        self._behind = {"ref": [], "student": []}
        self._calls = {"ref": 1, "student": 1}

    def add(self, side, result, calls):
        """Notes a window's brackets and readings. A reading under what the parent saw is replaced by that, and what the
        student's device did behind the mark is added: neither gains anything, and where a processor was held up the window
        is an outlier as any other."""
        if result.brackets is None:
            return
        self._calls[side] = calls
        for seen, behind, reading in zip(result.brackets, result.behind, result.readings):
            if reading.flags & native.HOST_BLOCKED:
                continue
            self._behind[side].append(behind)
            self._windows[side].append((seen, reading.window_ms))
            if not self._windows["ref"]:
                continue
            true = seen - self._offset()
            if reading.window_ms < (1 - MARGIN) * true - _SLACK_MS:
                reading.ms *= true / reading.window_ms
                reading.window_ms = true
            late = self._late(behind, seen) if side == "student" else 0.0
            if late:
                reading.ms *= (reading.window_ms + late) / reading.window_ms
                reading.window_ms += late

    def _offset(self):
        """How much longer than the reference's own readings the parent sees its windows."""
        return statistics.median(seen - reported for seen, reported in self._windows["ref"])

    def _late(self, behind, window):
        """How much later than the reference's the student's device was idle behind a window; 0 where that is its jitter."""
        late = behind - statistics.median(self._behind["ref"])
        return late if late > _BEHIND_MS + MARGIN * window else 0.0

    def judge(self):
        """({"ref_ms", "student_ms"} by the parent's clock, why the student's own readings cannot stand, or None)."""
        if not self._windows["ref"] or not self._windows["student"]:
            return None, None
        offset = self._offset()
        seen = {side: statistics.median(s - offset for s, _ in windows) for side, windows in self._windows.items()}
        reported = statistics.median(r for _, r in self._windows["student"])
        parent = {side + "_ms": seen[side] / self._calls[side] for side in seen}
        if reported < (1 - MARGIN) * seen["student"] - _SLACK_MS:
            return parent, ("the student's process reports %.4g ms for a window of which the harness's own clock saw %.4g ms"
                            % (reported, seen["student"]))
        return parent, None

    def behind(self):
        """Why the student's windows had not ended where they should have, by medians; or None."""
        if not self._behind["ref"] or not self._behind["student"]:
            return None
        late = self._late(statistics.median(self._behind["student"]),
                          statistics.median(seen for seen, _ in self._windows["student"]))
        if not late:
            return None
        return "the harness saw the device at work for %.0f us behind the closing mark, the reference's not" % (1e3 * late)
