# SPDX-License-Identifier: Apache-2.0
"""The ctypes layer on the fake device."""
import ctypes
import math
import os
import subprocess
import sys

import pytest

import plumbline


def test_imports_without_pytorch():
    code = "import sys, plumbline; assert 'torch' not in sys.modules; print(plumbline.version())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == plumbline.version()


def test_a_machine_without_a_gpu_says_what_is_missing():
    try:
        plumbline.Session.cuda(4096)
    except plumbline.PlumblineError as error:
        assert error.code in ("no-driver", "no-device") and str(error)
    assert plumbline.describe()


def test_tensor_inputs_without_pytorch_say_so(monkeypatch):
    monkeypatch.delenv("PLUMBLINE_TIMING_DEVICE")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(plumbline.PlumblineError) as caught:
        plumbline.measure_windows(lambda: None)
    assert caught.value.code == "no-torch"


def test_a_missing_library_is_named():
    environment = dict(os.environ, PLUMBLINE_TIMING_LIBRARY="/nowhere/lib.so")
    done = subprocess.run([sys.executable, "-c", "import plumbline"], env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and "/nowhere/lib.so" in done.stderr


def test_windows(session):
    session.script_host(5000)
    reading = session.pipelined([lambda: session.script_work(3000)] * 10)
    assert reading.ms == pytest.approx(0.003) and reading.calls == 10
    single = session.per_call([lambda: session.script_work(3000)], count=4)
    assert [r.ms for r in single] == pytest.approx([0.008] * 4)


def test_results_are_kept_in_order(session):
    results = [None] * 3
    session.pipelined([lambda i=i: i for i in range(3)], results=results)
    assert results == [0, 1, 2]


def test_an_exception_of_the_call_comes_through(session):
    def bad():
        raise KeyError("mine")
    with pytest.raises(KeyError):
        session.pipelined([bad] * 2)
    with pytest.raises(KeyError):
        session.per_call([bad])
    assert session.pipelined([lambda: session.script_work(1000)]).ms == pytest.approx(0.001)


def test_results_do_not_leak(session):
    import sys as system
    value = object()
    before = system.getrefcount(value)
    session.pipelined([lambda: value] * 50)
    session.per_call([lambda: value] * 50)
    assert system.getrefcount(value) == before


def test_a_call_that_waits_has_no_reading(session):
    def call():
        session.script_work(1000)
        session.script_synchronize()
    reading = session.pipelined([call] * 3)
    assert reading.flags & 1 and math.isnan(reading.ms)


def test_work_on_another_stream_is_late(session):
    reading = session.pipelined([lambda: session.script_work(10000, True)] * 20)
    assert reading.flags & 2 and reading.drained_ms == pytest.approx(0.2)


def test_the_gate_runs_last(session):
    order = []
    session.pipelined([lambda: order.append("call")] * 2, gate=lambda: order.append("gate"))
    assert order == ["call", "call", "gate"]
    with pytest.raises(plumbline.PlumblineError):
        session.pipelined([lambda: None], count=2, gate=lambda: None)


def test_compare_and_its_exceptions(session):
    def window(side, _phase, _round):
        return session.pipelined([lambda: session.script_work(4000 if side == 1 else 5000)] * 5)
    result, reference, student, kept = session.compare(window)
    assert result.ratio == pytest.approx(1.25) and len(reference) == len(student) == len(kept) == 16

    def broken(side, _phase, _round):
        raise ValueError("in a window")
    with pytest.raises(ValueError):
        session.compare(broken)
    with pytest.raises(plumbline.PlumblineError) as caught:
        session.compare(window, noise=0)
    assert caught.value.code == "usage"


def test_throttled_rounds_are_dropped(session):
    session.script_clocks([1000] * 40 + [500] * 4 + [1000])
    result, reference, _, kept = session.compare(
        lambda side, _phase, _r: session.pipelined([lambda: session.script_work(4000)] * 5))
    assert result.dropped >= 1 and not all(kept) and result.ratio == pytest.approx(1)


def test_memory(session):
    address = session.alloc(1000)
    session.fill(address, 0x01020304, 1000)
    assert session.read(address, 4) == bytes([4, 3, 2, 1])
    other = session.alloc(1000)
    session.copy(other, address, 1000)
    assert session.read(other + 996, 4) == bytes([4, 3, 2, 1])
    attached = session.attach(session.share(address))
    session.fill(attached, 0, 4)
    assert session.read(address, 4) == bytes(4)
    with pytest.raises(plumbline.PlumblineError):
        session.free(12345)


def test_structures_have_the_sizes_of_the_library(session):
    from plumbline import _native as native
    library, handle = native.free_library, session._handle
    takers = {"DeviceInfo": lambda one: library.pl_info(handle, one), "Overhead": lambda one: library.pl_measure_overhead(handle, one),
              "Options": library.pl_default_options,
              "Reading": lambda one: library.pl_per_call(handle, None, None, 0, 1, 0, one)}
    for name, take in takers.items():
        one = getattr(native, name)()
        one.struct_size += 8
        with pytest.raises(plumbline.PlumblineError, match="knows %d bytes" % ctypes.sizeof(one)) as caught:
            native.check(take(ctypes.byref(one)))
        assert caught.value.code == "usage"


def test_scripts_need_the_fake():
    assert plumbline.Session.scripted().info()["scripted"]
