# SPDX-License-Identifier: Apache-2.0
"""Times of PyTorch's calls as the measured rows have them: calls of one shape in a CUDA graph, over buffers in rotation, replayed
between two events. The host's cost is out, and weights are cold, as in a model of many layers. It needs nothing else of this
package, so that the scripts under tools/ measure by the same rules."""

import collections
import ctypes
import math
import re

import torch

# `ms` is the median replay over its calls, `ms_min` and `ms_max` the range; `sm_mhz` the clock while the last replay ran, or None.
Timing = collections.namedtuple("Timing", "ms ms_min ms_max calls replays sm_mhz")

L2_SETS = 2.5  # buffers overflow L2 this many times


class Nvml:
    """The SM clock and the driver's version, by NVML; None where that cannot be had."""

    def __init__(self, uuid):
        self._library = self._handle = None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            name = str(uuid) if str(uuid).startswith(("GPU-", "MIG-")) else "GPU-%s" % uuid
            if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle)):
                return
            self._library, self._handle = library, handle
        except (OSError, AttributeError):
            return

    def _clock(self, function):
        if self._library is None:
            return None
        mhz = ctypes.c_uint()
        return None if getattr(self._library, function)(self._handle, 1, ctypes.byref(mhz)) else mhz.value

    def sm_mhz(self):
        """The clock now."""
        return self._clock("nvmlDeviceGetClockInfo")

    def sm_mhz_max(self):
        """The highest clock of the card."""
        return self._clock("nvmlDeviceGetMaxClockInfo")

    def driver(self):
        """The driver's version, "580.159.04" for example."""
        text = ctypes.create_string_buffer(80)
        if self._library is None or self._library.nvmlSystemGetDriverVersion(text, len(text)):
            return None
        return text.value.decode()


def time_calls(make, nbytes, replays=7, target_ms=4.0, clock=None):
    """make() gives a callable without arguments on a buffer set of its own, of about `nbytes`. `clock()` reads the SM clock."""
    card = torch.cuda.get_device_properties(0)
    room = min(40e9, 0.4 * card.total_memory)
    sets = max(2, min(64, math.ceil(L2_SETS * card.L2_cache_size / max(nbytes, 1))))
    while sets > 2 and sets * nbytes > room:
        sets -= 1
    calls = [make() for _ in range(sets)]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        for call in calls[:3]:
            call()
        stream.synchronize()
        begin.record(stream)
        for call in calls[:3]:
            call()
        end.record(stream)
        stream.synchronize()
        estimate = max(begin.elapsed_time(end) / min(3, sets), 1e-3)
    repeats = max(sets, min(400, math.ceil(target_ms / estimate)))
    repeats = math.ceil(repeats / sets) * sets
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(repeats):
            calls[i % sets]()
    graph.replay()
    torch.cuda.synchronize()
    times, mhz = [], None
    for number in range(replays):
        begin.record()
        graph.replay()
        end.record()
        if clock is not None and number == replays - 1:
            mhz = clock()  # while the device works
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / repeats)
    del graph
    times.sort()
    return Timing(times[len(times) // 2], times[0], times[-1], repeats, replays, mhz)


def plain(name):
    """A kernel's name without its return type, wrappers, template arguments and parameter list."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\bcutlass::Kernel2?<(\w+)>", r"\1", name)
    while "<" in name and (shorter := re.sub(r"<[^<>]*>", "", name.replace("->", ""))) != name:
        name = shorter
    name = name.split("(")[0].split("::type ")[-1].split()
    return name[-1] if name else ""
