# SPDX-License-Identifier: Apache-2.0
"""The C library: where it is found, its structures and its functions."""

import ctypes
import math
import os
from ctypes import (POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_ubyte, c_uint64,
                    c_void_p)

_NAME = "libplumbline_timing.so"


class PlumblineError(RuntimeError):
    """A measurement that could not be made; `code` is a stable slug."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Sized(Structure):
    """A structure that starts with its size, as the C library wants it; subclasses name the fields behind it."""

    _fields_ = [("struct_size", c_size_t)]

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)


def array_of(structure, count):
    """An array of `count` structures that start with their size."""
    made = (structure * max(count, 1))()
    for one in made:
        one.struct_size = ctypes.sizeof(structure)
    return made


class Reading(_Sized):
    """One window (pl_reading)."""

    _fields_ = [("kind", c_int32), ("calls", c_int32), ("flags", c_int32), ("reasons", c_int32), ("ms", c_double),
                ("window_ms", c_double), ("drained_ms", c_double), ("host_ms", c_double), ("sm_mhz", c_double),
                ("temperature_c", c_double)]


class DeviceInfo(_Sized):
    """What is known of the GPU (pl_device_info)."""

    _fields_ = [("name", c_char * 128), ("uuid", c_char * 48), ("driver_version", c_int32), ("compute_major", c_int32),
                ("compute_minor", c_int32), ("multiprocessors", c_int32), ("l2_bytes", c_int64),
                ("memory_bytes", c_int64), ("sm_mhz_max", c_double), ("scripted", c_int32), ("nvml", c_int32)]


class Overhead(_Sized):
    """The harness's own cost (pl_overhead)."""

    _fields_ = [("per_call_us", c_double), ("per_call_spread_us", c_double), ("launch_floor_us", c_double),
                ("drain_us", c_double), ("flush_us", c_double)]


class Options(_Sized):
    """The rules of a comparison (pl_options)."""

    _fields_ = [("noise", c_double), ("time_limit_s", c_double), ("aa_rounds", c_int32), ("min_rounds", c_int32),
                ("max_rounds", c_int32), ("clock_tolerance", c_double), ("max_dropped", c_int32)]


class Side(Structure):
    """One side of a comparison (pl_side)."""

    _fields_ = [("ms", c_double), ("median_ms", c_double), ("low_ms", c_double), ("high_ms", c_double),
                ("sm_mhz", c_double), ("temperature_c", c_double)]


class Comparison(_Sized):
    """A comparison (pl_comparison)."""

    _fields_ = [("reference", Side), ("student", Side), ("ratio", c_double), ("ratio_low", c_double),
                ("ratio_high", c_double), ("rse", c_double), ("aa_ratio", c_double), ("aa_rse", c_double),
                ("smallest_difference", c_double), ("rounds", c_int32), ("dropped", c_int32),
                ("kept_throttled", c_int32), ("stop", c_int32), ("flags", c_int32), ("reasons", c_int32),
                ("seconds", c_double)]


class PythonCalls(_Sized):
    """Python callables that the library calls (pl_python)."""

    _fields_ = [("callables", c_void_p), ("results", c_void_p)]


class Order(_Sized):
    """A window that another process is to take (pl_order)."""

    _fields_ = [("number", c_int32), ("epoch", c_int32), ("kind", c_int32), ("calls", c_int32), ("first", c_int32),
                ("cold", c_int32), ("collect", c_int32)]


class Problem(Structure):
    """What is wrong with the form of an output (pl_problem)."""

    _fields_ = [("code", c_int32), ("call", c_int32), ("output", c_int32), ("value", c_int32)]


class Answer(_Sized):
    """What the other process says of a window beside its readings (pl_answer)."""

    _fields_ = [("number", c_int32), ("status", c_int32), ("calls", c_int32), ("problems", c_int32), ("guards", c_int32),
                ("copied", c_int32), ("problem", Problem * 16)]


class Bracket(_Sized):
    """What the harness's own clock saw of a window (pl_bracket)."""

    _fields_ = [("ms", c_double), ("drained_ms", c_double), ("early", c_int32)]


class OutputSpec(_Sized):
    """The form of an output (pl_output_spec)."""

    _fields_ = [("dtype", c_void_p), ("dims", c_int32), ("item_bytes", c_int32), ("shape", c_int64 * 16),
                ("strides", c_int64 * 16), ("offset", c_int64)]


WINDOW = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int32, c_int32, c_int32, POINTER(Reading))
PER_CALL, PIPELINED = 0, 1
EQUAL, COMPARED = 0, 1  # the phases of a comparison
HOST_BLOCKED = 1
LATE_WORK = 2
_CODES = {1: "no-driver", 2: "no-device", 3: "cuda-error", 4: "call-failed", 5: "usage"}


def _candidates():
    override = os.environ.get("PLUMBLINE_TIMING_LIBRARY")
    if override:
        return [override]
    here = os.path.dirname(os.path.abspath(__file__))
    return [os.path.join(here, _NAME), os.path.join(here, "..", "..", "..", "..", _NAME), _NAME]


def _prototypes(library):
    session = c_void_p
    word = POINTER(c_uint64)
    signatures = {
        "pl_open": [c_int32, c_void_p, POINTER(c_void_p)], "pl_open_scripted": [POINTER(c_void_p)],
        "pl_info": [session, POINTER(DeviceInfo)], "pl_close": [session],
        "pl_per_call": [session, c_void_p, c_void_p, c_int32, c_int32, c_int32, POINTER(Reading)],
        "pl_pipelined": [session, c_void_p, c_void_p, c_int32, c_void_p, c_double, POINTER(Reading)],
        "pl_measure_overhead": [session, POINTER(Overhead)], "pl_flush": [session], "pl_drain": [session],
        "pl_spin": [session, c_uint64, c_uint64], "pl_alloc": [session, c_uint64, word],
        "pl_free": [session, c_uint64], "pl_fill": [session, c_uint64, ctypes.c_uint32, c_uint64],
        "pl_copy": [session, c_uint64, c_uint64, c_uint64], "pl_read": [session, c_void_p, c_uint64, c_uint64],
        "pl_share": [session, c_uint64, c_ubyte * 64], "pl_attach": [session, c_ubyte * 64, word],
        "pl_detach": [session, c_uint64], "pl_default_options": [POINTER(Options)],
        "pl_compare": [session, WINDOW, c_void_p, POINTER(Options), POINTER(Comparison), POINTER(c_double),
                       POINTER(c_double), POINTER(c_int32), c_int32, POINTER(c_int32)],
        "pl_page_open": [POINTER(c_int32), POINTER(c_int32), POINTER(c_void_p)], "pl_page_close": [c_void_p],
        "pl_page_order": [c_void_p, POINTER(Order)],
        "pl_page_wait": [c_void_p, c_int32, c_double, POINTER(c_int32)],
        "pl_page_watch": [c_void_p, c_int32, c_int32, c_double, POINTER(c_int32), POINTER(Bracket)],
        "pl_page_answer": [c_void_p, c_int32, c_double, POINTER(c_int32), POINTER(Answer), POINTER(Reading),
                           POINTER(c_double)],
        "pl_page_taken": [c_void_p],
        "pl_serve_open": [session, c_int32, c_int32, POINTER(c_void_p)],
        "pl_serve_library": [c_void_p, ctypes.py_object, ctypes.py_object],
        "pl_serve_outputs": [c_void_p, c_char_p, c_int32, c_uint64, POINTER(OutputSpec), c_int32],
        "pl_serve_calls": [c_void_p, ctypes.py_object, POINTER(c_uint64)],
        "pl_serve_guards": [c_void_p, ctypes.py_object],
        "pl_serve_window": [c_void_p], "pl_serve_wait": [c_int32],
        "pl_signal_descendants": [c_int32, c_int32, POINTER(c_int32), c_int32, POINTER(c_int32)], "pl_subreaper": [],
        "pl_gpu_processes": [session, POINTER(c_int32), c_int32, POINTER(c_int32), POINTER(c_int32)],
        "pl_script_work": [session, c_double, c_int32], "pl_script_host": [session, c_double],
        "pl_script_clocks": [session, POINTER(c_double), c_int32],
        "pl_script_reasons": [session, POINTER(c_int32), c_int32], "pl_script_synchronize": [session],
    }
    for name, arguments in signatures.items():
        getattr(library, name).argtypes = arguments
    for name in ("pl_close", "pl_page_close"):
        getattr(library, name).restype = None
    for name in ("pl_version", "pl_last_error", "pl_describe"):
        getattr(library, name).restype = c_char_p
    return library


def _load():
    tried = []
    for path in _candidates():
        try:
            # Twice: CDLL lets other Python threads run in a call, PyDLL does not (windows).
            return _prototypes(ctypes.CDLL(path)), _prototypes(ctypes.PyDLL(path))
        except OSError as error:
            tried.append(str(error))
    raise ImportError("plumbline: " + _NAME + " was not found (set PLUMBLINE_TIMING_LIBRARY to its path): "
                      + "; ".join(tried))


free_library, held_library = _load()


def check(status):
    """Raises PlumblineError for a status other than PL_OK."""
    if status != 0:
        raise PlumblineError(_CODES.get(status, "error"), free_library.pl_last_error().decode("utf-8", "replace"))


def known(value):
    """The number, or None for NaN: what is not known is absent, never 0."""
    return None if math.isnan(value) else value


def describe():
    """One line on the driver and NVML of this machine, or on what is missing."""
    return free_library.pl_describe().decode("utf-8", "replace")


def version():
    """The version of the C library."""
    return free_library.pl_version().decode()
