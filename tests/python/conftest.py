# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the fake device, and a card's folder with students on it."""
import os
import sys
import textwrap

import pytest

os.environ["PLUMBLINE_TIMING_DEVICE"] = "scripted"
STUDENTS = '''
from plumbline import scripted
_kept = {}


def reference(x, y):
    scripted.work(5000)
    return x * 2 + y


def good(x, y):
    scripted.work(4000)
    return x * 2 + y


def by_pointer(x, y):
    key = x.ctypes.data
    if key not in _kept:
        scripted.work(4000)
        _kept[key] = x * 2 + y
    return _kept[key]


def other_stream(x, y):
    scripted.work(40000, True)
    return x * 2 + y


def mutate(x, y):
    scripted.work(4000)
    result = x * 2 + y
    x[...] = 0
    return result


def waits(x, y):
    scripted.work(4000)
    scripted.synchronize()
    return x * 2 + y


def hangs(x, y):
    while True:
        pass


def orphans(x, y):
    import os
    import signal
    if _kept.setdefault("keeper", os.getppid()) == os.getppid():  # once: a later parent is the test
        if os.fork():
            os.kill(os.getppid(), signal.SIGKILL)
        _kept["keeper"] = None
        os.setsid()
    return reference(x, y)


def dies(x, y):
    import os
    os._exit(3)


def raises(x, y):
    raise ValueError("no")


def wrong_shape(x, y):
    return (x * 2 + y)[:1]


def wrong_type(x, y):
    return (x * 2 + y).astype("f8")


def wrong_count(x, y):
    return x, y


def subclass(x, y):
    import numpy
    return numpy.matrix(x * 2 + y)


def patches_time(x, y):
    import time
    time.perf_counter = lambda: 0.0
    scripted.work(4000)
    return x * 2 + y


def patches_harness(x, y):
    import plumbline.session
    plumbline.session.Session.pipelined = lambda *a, **k: None
    scripted.work(4000)
    return x * 2 + y



def looks_in_the_mailbox(x, y):
    """Returns what lies where the parent will look for this call's output."""
    import gc
    scripted.work(1000)
    for found in gc.get_objects():
        if type(found).__name__ == "Worker" and getattr(found, "_slots", None):
            calls = _kept["calls"] = _kept.get("calls", -1) + 1
            return found._slots[calls % len(found._slots)][0].copy()
    return x * 2 + y


def changes_its_input(x, y):
    scripted.work(1000)
    x[...] = x * 2 + y
    return x


def by_content(x, y):
    key = x.tobytes()
    scripted.synchronize()
    scripted.work(4500 if key not in _kept else 10)
    if key not in _kept:
        _kept[key] = x * 2 + y
    return _kept[key]


def takes_scale(x, y, scale):
    scripted.work(4000)
    return x * 2 + y


def spoils_scale(x, y, scale):
    scripted.work(4000)
    scale[...] = 0
    return x * 2 + y


def in_place(x, y, out):
    scripted.work(4000)
    out[...] = x * 2 + y


def skips_in_place(x, y, out):
    scripted.work(4000)


def reference_in_place(x, y, out):
    scripted.work(5000)
    out[...] = x * 2 + y


def reference_with_saved(x, y, saved):
    scripted.work(5000)
    return x * 2 + y


def wants_unknown(x, z):
    return x


def takes_anything(**given):
    scripted.work(4000)
    return given["x"] * 2 + given["y"] + 0 * len(given)


def asks_for_saved(x, y, saved=None):
    scripted.work(1000)
    return x * 2 + y if saved is None else saved


def lazy_tuple(x, y):
    class Later(tuple):
        def __iter__(self):
            return iter([x * 2 + y])
    return Later((x,))


def leaves_a_trace(x, y):
    import sys
    sys.setprofile(lambda *_: None)
    scripted.work(4000)
    return x * 2 + y


def leaves_a_daemon(x, y):
    import os, time
    scripted.work(4000)
    if "daemon" not in _kept:
        _kept["daemon"] = True
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            with open(os.environ["PLUMBLINE_TEST_PID"], "w") as stream:
                stream.write(str(os.getpid()))
            time.sleep(600)
    return x * 2 + y
'''


@pytest.fixture
def session():
    """A fresh fake device."""
    import plumbline
    opened = plumbline.Session.scripted()
    yield opened
    opened.close()


@pytest.fixture
def students(tmp_path):
    """A folder with the module `students`."""
    (tmp_path / "students.py").write_text(textwrap.dedent(STUDENTS))
    sys.modules.pop("students", None)
    yield tmp_path
    sys.path[:] = [p for p in sys.path if p != str(tmp_path)]
    sys.modules.pop("students", None)


@pytest.fixture
def inputs():
    """make_inputs for 32 x 32 arrays."""
    import numpy

    def make(seed):
        random = numpy.random.default_rng(seed)
        return {"x": random.standard_normal((32, 32)).astype("f4"), "y": random.standard_normal((32, 32)).astype("f4")}
    return make
