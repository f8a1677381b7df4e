# SPDX-License-Identifier: Apache-2.0
"""A session on one GPU (or on the scripted fake): windows, overhead, memory shared between processes."""

import ctypes

from . import _native as native


class Session:
    """A GPU, one stream of it, and the harness's events, kernels and buffers there."""

    def __init__(self, handle, library=None):
        self._handle = handle
        self._free = library or native.free_library
        self._held = native.held_library
        # Kept here, so that a student that patches the modules later changes nothing.
        self._call = ctypes.cast(self._held.pl_python_call, ctypes.c_void_p)

    @classmethod
    def cuda(cls, device=0, stream=0):
        """A session on GPU `device`, on the driver stream `stream` (0: the legacy default stream, PyTorch's own)."""
        handle = ctypes.c_void_p()
        native.check(native.free_library.pl_open(device, stream or None, ctypes.byref(handle)))
        return cls(handle)

    @classmethod
    def scripted(cls):
        """A session on a fake device with virtual time, for tests without a GPU."""
        handle = ctypes.c_void_p()
        native.check(native.free_library.pl_open_scripted(ctypes.byref(handle)))
        return cls(handle)

    def close(self):
        """Gives everything back; the session is unusable then."""
        if self._handle:
            self._free.pl_close(self._handle)
            self._handle = None

    def info(self):
        """What is known of the GPU, as a dict."""
        raw = native.DeviceInfo()
        native.check(self._free.pl_info(self._handle, ctypes.byref(raw)))
        return {"name": raw.name.decode(), "uuid": raw.uuid.decode(), "cuda_driver": raw.driver_version,
                "compute": "%d.%d" % (raw.compute_major, raw.compute_minor), "multiprocessors": raw.multiprocessors,
                "l2_bytes": raw.l2_bytes, "memory_bytes": raw.memory_bytes,
                "sm_mhz_max": native.known(raw.sm_mhz_max), "scripted": bool(raw.scripted), "nvml": bool(raw.nvml)}

    def overhead(self):
        """The harness's own cost now, in microseconds."""
        raw = native.Overhead()
        native.check(self._held.pl_measure_overhead(self._handle, ctypes.byref(raw)))
        return {name: getattr(raw, name) for name, _ in raw._fields_}

    def _calls(self, callables, results, gate):
        everything = list(callables) + ([gate] if gate is not None else [])
        # The gate is called with index -1, the last place; calls wrap around the list, so the list must be at least as
        # long as the window when a gate is given.
        calls = native.PythonCalls(callables=id(everything), results=id(results) if results is not None else None)
        return everything, calls

    def per_call(self, callables, first=0, count=None, cold=True, results=None):
        """Per-call windows: a list of Reading, one for each of `count` calls from `first` on."""
        count = len(callables) if count is None else count
        keep, calls = self._calls(callables, results, None)
        readings = native.array_of(native.Reading, count)
        native.check(self._held.pl_per_call(self._handle, self._call, ctypes.addressof(calls), first, count, int(cold),
                                            readings))
        del keep
        return list(readings[:count])

    def pipelined(self, callables, count=None, results=None, gate=None, gate_ms=5000.0):
        """One pipelined window of `count` calls: a Reading. `results` is a list that gets each call's result."""
        count = len(callables) if count is None else count
        if gate is not None and count > len(callables):
            raise native.PlumblineError("usage", "a gated window needs a callable for each call")
        keep, calls = self._calls(callables, results, gate)
        reading = native.Reading()
        native.check(self._held.pl_pipelined(self._handle, self._call, ctypes.addressof(calls), count,
                                             self._call if gate is not None else None, gate_ms,
                                             ctypes.byref(reading)))
        del keep
        return reading

    def flush(self):
        """Empties L2 (persisting lines too) and waits for the end."""
        native.check(self._free.pl_flush(self._handle))

    def drain(self):
        """Waits until the device is idle, on every stream."""
        native.check(self._free.pl_drain(self._handle))

    def spin(self, ticks, stamps=0):
        """Enqueues a kernel that takes `ticks` SM cycles."""
        native.check(self._held.pl_spin(self._handle, ticks, stamps))

    def alloc(self, nbytes):
        """Device memory; returns the address."""
        address = ctypes.c_uint64()
        native.check(self._free.pl_alloc(self._handle, nbytes, ctypes.byref(address)))
        return address.value

    def free(self, address):
        """Gives memory of alloc() back."""
        native.check(self._free.pl_free(self._handle, address))

    def fill(self, address, word, nbytes):
        """Enqueues a fill with a 32-bit word."""
        native.check(self._free.pl_fill(self._handle, address, word, nbytes))

    def copy(self, to, source, nbytes):
        """Enqueues a copy on the device."""
        native.check(self._free.pl_copy(self._handle, to, source, nbytes))

    def read(self, address, nbytes):
        """The bytes at a device address."""
        data = ctypes.create_string_buffer(nbytes)
        native.check(self._free.pl_read(self._handle, data, address, nbytes))
        return data.raw

    def share(self, address):
        """A handle (128 hex digits) by which another process attaches memory of alloc()."""
        handle = (ctypes.c_ubyte * 64)()
        native.check(self._free.pl_share(self._handle, address, handle))
        return bytes(handle).hex()

    def attach(self, handle):
        """The address of memory that another process shared."""
        address = ctypes.c_uint64()
        raw = (ctypes.c_ubyte * 64).from_buffer_copy(bytes.fromhex(handle))
        native.check(self._free.pl_attach(self._handle, raw, ctypes.byref(address)))
        return address.value

    def detach(self, address):
        """Gives attached memory back."""
        native.check(self._free.pl_detach(self._handle, address))

    def gpu_processes(self, known):
        """(all, foreign): the processes that NVML sees computing on this GPU, and those not in `known` (process numbers);
        None where it does not tell."""
        pids = (ctypes.c_int32 * max(len(known), 1))(*known)
        everything, foreign = ctypes.c_int32(), ctypes.c_int32()
        native.check(self._free.pl_gpu_processes(self._handle, pids, len(known), ctypes.byref(everything),
                                                 ctypes.byref(foreign)))
        return None if everything.value < 0 else (everything.value, foreign.value)

    def compare(self, window, *, noise=0.005, time_limit_s=30.0, aa_rounds=8, min_rounds=8, max_rounds=400,
                clock_tolerance=0.05, max_dropped=20):
        """Runs A/A and then A B B A rounds of `window(side, phase, round) -> Reading`; sides are 0 reference, 1 student and 2
        the reference in the student's place; the phase is native.EQUAL in the A/A run, then native.COMPARED. Returns (Comparison, reference samples, student samples, kept)."""
        options = native.Options(noise=noise, time_limit_s=time_limit_s, aa_rounds=aa_rounds, min_rounds=min_rounds,
                                 max_rounds=max_rounds, clock_tolerance=clock_tolerance, max_dropped=max_dropped)
        capacity = 2 * (max_rounds + max_dropped)
        reference, student = (ctypes.c_double * capacity)(), (ctypes.c_double * capacity)()
        kept, count = (ctypes.c_int32 * capacity)(), ctypes.c_int32()
        raised = []

        def take(_user, side, phase, number, out):
            try:
                reading = window(side, phase, number)
                ctypes.memmove(out, ctypes.byref(reading), ctypes.sizeof(reading))
                return 0
            except BaseException as error:  # noqa: B902 - carried across the C frames and raised again below
                raised.append(error)
                return 1

        result = native.Comparison()
        status = self._free.pl_compare(self._handle, native.WINDOW(take), None, ctypes.byref(options),
                                       ctypes.byref(result), reference, student, kept, capacity, ctypes.byref(count))
        if raised:
            raise raised[0]
        native.check(status)
        n = count.value
        return result, list(reference[:n]), list(student[:n]), [bool(k) for k in kept[:n]]

    # The script of the fake.
    def script_work(self, nanoseconds, other_stream=False):
        """Fake only: the work that a call enqueues."""
        native.check(self._held.pl_script_work(self._handle, nanoseconds, int(other_stream)))

    def script_host(self, nanoseconds):
        """Fake only: host time that each call takes."""
        native.check(self._held.pl_script_host(self._handle, nanoseconds))

    def script_clocks(self, mhz):
        """Fake only: SM clock of each window to come; the last one stays."""
        native.check(self._held.pl_script_clocks(self._handle, (ctypes.c_double * len(mhz))(*mhz), len(mhz)))

    def script_reasons(self, reasons):
        """Fake only: throttle reasons of each window to come; the last ones stay."""
        native.check(self._held.pl_script_reasons(self._handle, (ctypes.c_int32 * len(reasons))(*reasons), len(reasons)))

    def script_synchronize(self):
        """Fake only: the call waits for the device."""
        native.check(self._held.pl_script_synchronize(self._handle))
