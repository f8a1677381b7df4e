# SPDX-License-Identifier: Apache-2.0
"""The reference with nothing of the student on the machine, held against the reference while the student lived."""

from . import _native as native

READINGS = 8    # of the reference alone, before the student and after
_MARGIN = 0.02  # the reference may be this much slower while the student lives, at least


def block(comparison, before, after):
    """{"before_ms", "after_ms", "difference"}: how much slower the reference was while the student lived than in the
    slower of the two quiet readings (median ms and SM clock in MHz each, or None); a clock that fell under both sides' load
    is not a difference."""
    ms, mhz, apart = comparison.reference.median_ms, comparison.reference.sm_mhz, []
    for one in (before, after):
        if one and one[0] == one[0]:
            by_time = ms / one[0] - 1
            by_cycles = ms * mhz / (one[0] * one[1]) - 1 if mhz == mhz and one[1] == one[1] else by_time
            apart.append(min(by_time, by_cycles))
    return {"before_ms": native.known(before[0]) if before else None, "after_ms": native.known(after[0]) if after else None,
            "difference": min(apart) if apart else None}


def hold(comparison, difference):
    """Why the comparison cannot stand, or None: the reference was slowed. A difference that may be chance widens what
    cannot be claimed."""
    if difference is None or difference <= comparison.smallest_difference:
        return None
    if difference > max(_MARGIN, 2 * comparison.smallest_difference):
        return ("the reference was %.1f %% slower while the student lived than before and after: something kept the GPU or "
                "the host busy" % (100 * difference))
    comparison.smallest_difference = difference
    return None
