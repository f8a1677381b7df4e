# SPDX-License-Identifier: Apache-2.0
"""How far an output is off: whole, by chunks, and the small values of a heavy-tailed output."""
import numpy as np
import pytest

from plumbline import Workload, accuracy, backends, measure_windows_workloads


@pytest.fixture
def backend():
    return backends.choose()


def heavy(seed=1):
    """Rows of 4096 whose quarters lie three decades apart."""
    made = np.random.default_rng(seed).standard_normal((64, 4096))
    return (made * np.repeat([1.0, 1e-1, 1e-3, 1e-4], 1024)).astype("f4")


def test_an_equal_output_is_not_off(backend):
    out = heavy()
    assert backend.read([accuracy.error(backend, out, out.copy(), 1e-3)]) == [0.0]
    assert backend.read([accuracy.lost(backend, out, out, out.astype("f8"))]) == [0.0]


def test_rounding_of_a_shorter_type_is_no_loss(backend):
    out = heavy()
    rounded = out.astype("f2").astype("f4")
    assert backend.read([accuracy.error(backend, rounded, out, 2e-2)])[0] < 1
    assert backend.read([accuracy.lost(backend, rounded, out, out.astype("f8"))]) == [0.0]


@pytest.mark.parametrize("quarter", range(4))
def test_a_chunk_of_zeros_is_wrong(backend, quarter):
    out, got = heavy(), heavy()
    got[3, 1024 * quarter:1024 * (quarter + 1)] = 0
    assert backend.read([accuracy.error(backend, got, out, 2e-2)])[0] > 1


@pytest.mark.parametrize("quarter", range(4))
def test_a_chunk_of_another_call_is_lost(backend, quarter):
    out, got = heavy(), heavy()
    place = slice(1024 * quarter, 1024 * (quarter + 1))
    got[3, place] = heavy(2)[3, place]
    assert backend.read([accuracy.lost(backend, got, out, out.astype("f8"))]) == [1.0]


@pytest.mark.parametrize("axis", range(3))
def test_one_index_of_an_axis_that_is_of_another_call_is_lost(backend, axis):
    """Columns, heads and rows that no chunk holds by themselves."""
    def make(seed):
        made = np.random.default_rng(seed).standard_normal((24, 12, 40))
        scale = np.moveaxis(np.ones(made.shape), axis, 0)
        scale[3::5] = 1e-4
        return made * np.moveaxis(scale, 0, axis)
    exact, other = make(1), make(2)
    out, got = exact.astype("f4"), exact.astype("f4")
    place = (slice(None),) * axis + (slice(3, None, 5),)
    got[place] = other[place]
    assert backend.read([accuracy.error(backend, got, out, 1e-3)])[0] < 1  # by norm and by chunks nothing is seen
    assert backend.read([accuracy.lost(backend, got, out, exact)]) == [1.0]
    assert backend.read([accuracy.lost(backend, out, out, exact)]) == [0.0]
    rounded = out.astype("f2").astype("f4")
    assert backend.read([accuracy.lost(backend, rounded, out, exact)]) == [0.0]


def test_complex_parts(backend):
    made = np.random.default_rng(5).standard_normal((300, 8, 2)) @ np.array([1, 1j])
    made[:, 6] *= 1e-4
    got = made.astype("c8")
    assert backend.read([accuracy.lost(backend, got, got, made)]) == [0.0]
    got[:, 6] = got[::-1, 6]
    assert backend.read([accuracy.lost(backend, got, made.astype("c8"), made)]) == [1.0]


def test_an_honest_product_in_lower_precision_loses_nothing(backend):
    """Errors that are absolute, as of a quantised or shortened product: small sums of it are off by more than themselves."""
    made = np.random.default_rng(7)
    a, b = made.standard_normal((512, 512)), made.standard_normal((512, 64))
    exact = a @ b
    step = np.abs(a).max() / 127
    student = (np.round(a / step) * step) @ b  # int8
    for off in (student, a.astype("f2").astype("f8") @ b):
        assert backend.read([accuracy.lost(backend, off.astype("f4"), exact.astype("f4"), exact)]) == [0.0]


def test_nothing_is_lost_where_the_reference_itself_is_unsure(backend):
    exact = heavy().astype("f8")
    noise = np.random.default_rng(3).standard_normal(exact.shape) * 1e-4
    assert backend.read([accuracy.lost(backend, exact - noise, exact + noise, exact)]) == [0.0]


def test_nan_and_integers(backend):
    out, got = heavy(), heavy()
    got[0, 0] = np.nan
    assert not backend.read([accuracy.error(backend, got, out, 2e-2)])[0] <= 1
    whole = np.arange(8)
    assert backend.read([accuracy.error(backend, whole, whole, 1.0)]) == [0.0]
    assert backend.read([accuracy.error(backend, whole + 1, whole, 1.0)]) == [2.0]
    empty = np.empty((0, 4), "f4")
    assert backend.read([accuracy.error(backend, empty, empty, 1e-3)]) == [0.0]


STUDENT = '''
import numpy
from plumbline import scripted
_kept = []


def reference(x, w):
    scripted.work(5000)
    return x * w


def stale_tail(x, w):
    """Its own output, of which the last quarter, a ten-thousandth of the rest, is that of the first call."""
    scripted.work(4000)
    if not _kept:
        _kept.append(x * w)
    out = _kept[0].copy()
    out[:, :3072] = (x * w)[:, :3072]
    return out
'''


def test_a_student_that_skips_the_tail_is_found(tmp_path):
    (tmp_path / "tails.py").write_text(STUDENT)

    def make(seed):
        made = np.random.default_rng(seed)
        return {"x": made.standard_normal((8, 4096)).astype("f4"),
                "w": np.repeat([1.0, 1e-1, 1e-3, 1e-4], 1024).astype("f4")}
    found = measure_windows_workloads([Workload("w", make)], student="tails:stale_tail", reference="tails:reference",
                                      paths=[str(tmp_path)], min_workloads=1, max_calls=8)
    block = found["performance"]["workloads"][0]
    assert [f["code"] for f in block["findings"]] == ["wrong-output"] and found["performance"]["ratio"] is None
