# SPDX-License-Identifier: Apache-2.0
"""How far an output is off. The functions return scalars on the device: collect many, then ask backend.read()."""

import math

_CHUNK = 1024
_CHUNK_LEAST = 0.01  # the usual chunk counts as at least this share of the mean one
_SKIPPED = 1e-6  # a chunk of zeros is wrong where the expected one is over this share of the mean one
_CHUNK_FACTOR = 15.0  # a chunk's own error may be this many times the tolerance of the whole
_LOST, _SURE = 0.5, 0.02  # a part off by half of itself is lost, where the reference knows it within 2 %
_PART = 256  # values that make a part: of fewer a sum may be near zero by chance


def error(backend, got, want, tolerance):
    """How far `got` is off `want`, in tolerances: the worse of the whole by norm and of its worst chunk. Over 1 is wrong, NaN
    is wrong."""
    xp = backend.xp
    if not math.prod(want.shape) or not backend.is_real(want.dtype):
        return (got != want).any() * 2.0
    g, e = backend.flat(got, want), backend.flat(want, want)
    difference, size = backend.chunk_sums(g - e, _CHUNK), backend.chunk_sums(e, _CHUNK)
    whole = xp.sqrt(difference.sum() / (size.sum() + 1e-30))
    # The scale of a chunk: a tenth of the usual chunk, which few large values do not raise; at least a hundredth of
    # that of the whole, since rounding follows the largest terms.
    mean = _mean_chunk(xp, size, want)
    usual = xp.median(xp.sqrt(size))
    floor = 0.1 * xp.minimum(xp.maximum(usual, _CHUNK_LEAST * mean), mean)
    chunk = (xp.sqrt(difference) / (xp.sqrt(size) + floor + 1e-15)).max()
    made = backend.chunk_sums(g, _CHUNK)
    skipped = ((made == 0) & (xp.sqrt(size) > _SKIPPED * mean)).any() * (2.0 * tolerance)
    return xp.maximum(xp.maximum(whole, chunk / _CHUNK_FACTOR), skipped + 0 * whole) / tolerance


def _mean_chunk(xp, size, want):
    return xp.sqrt(size.sum() / math.prod(want.shape)) * math.sqrt(_CHUNK)


def distance(backend, got, exact):
    """The norm of got - exact over that of exact."""
    xp, true = backend.xp, backend.flat(exact, exact)
    off = backend.chunk_sums(backend.flat(got, exact) - true, _CHUNK).sum()
    return xp.sqrt(off / (backend.chunk_sums(true, _CHUNK).sum() + 1e-300))


def lost(backend, got, want, exact):
    """1 where `got` has nothing of a part that the reference (`want`) knows, by what it is in double precision (`exact`):
    the small values of a heavy-tailed output that were left out, or are those of another call, weigh nothing by norm.
    Parts are chunks, and everything at one index of an axis (a row, a column, a head) where that is _PART values or more."""
    xp, true = backend.xp, backend.flat(exact, exact)
    mine, theirs = backend.flat(got, exact) - true, backend.flat(want, exact) - true
    found = _lost(xp, _mean_chunk(xp, backend.chunk_sums(true, _CHUNK), exact),
                  [backend.chunk_sums(one, _CHUNK) for one in (mine, theirs, true)])
    count = math.prod(exact.shape)
    mean = xp.sqrt((true * true).sum() / count)
    for axis, length in enumerate(exact.shape):
        if length > 1 and count // length >= _PART:
            before, after = math.prod(exact.shape[:axis]), math.prod(exact.shape[axis + 1:]) * (true.shape[0] // count)
            sums = [(one * one).reshape(before, length, after).sum(2).sum(0) for one in (mine, theirs, true)]
            found = found | _lost(xp, mean * math.sqrt(count // length), sums)
    return found * 1.0


def _lost(xp, mean, sums):
    """Is one of some parts lost? `sums`: of the squares of both sides' errors and of the true values, for each part; `mean`:
    the norm of a part of usual values."""
    mine, theirs, size = (xp.sqrt(one) for one in sums)
    return ((mine > _LOST * size) & (theirs < _SURE * size) & (size > _SKIPPED * mean)).any()
