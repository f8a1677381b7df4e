# SPDX-License-Identifier: Apache-2.0
"""The memory through which the harness orders windows of another process, opens them and sees them close."""

import collections
import ctypes

from . import _native as native

READY, ANSWERED, GONE = 1, 2, 3  # what a wait ended by; 0: its limit

Window = collections.namedtuple("Window", "answer readings brackets")


class Page:
    """The harness's side. `files` are the two descriptors that the other process maps and closes."""

    def __init__(self):
        orders, answers, handle = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_void_p()
        self._library = native.free_library
        native.check(self._library.pl_page_open(ctypes.byref(orders), ctypes.byref(answers), ctypes.byref(handle)))
        self._handle, self.files = handle, (orders.value, answers.value)
        self._calls = 0

    def close(self):
        """Gives the memory back."""
        if self._handle:
            self._library.pl_page_close(self._handle)
            self._handle = None

    def order(self, kind, calls, first, cold, collect):
        """Writes down a window, or `calls` per-call windows; the other process still has to be told to look."""
        order = native.Order(kind=native.PIPELINED if kind == "pipelined" else native.PER_CALL, calls=calls, first=first,
                             cold=int(cold), collect=int(collect))
        native.check(self._library.pl_page_order(self._handle, ctypes.byref(order)))
        self._calls = calls

    def wait(self, alive, limit_s):
        """Until everything of a pipelined window is enqueued: READY, ANSWERED (it failed), GONE, or 0 at the limit."""
        state = ctypes.c_int32()
        native.check(self._library.pl_page_wait(self._handle, alive, limit_s, ctypes.byref(state)))
        return state.value

    def watch(self, index, alive, limit_s):
        """Opens window `index` and watches it close: (state, Bracket)."""
        state, bracket = ctypes.c_int32(), native.Bracket()
        native.check(self._library.pl_page_watch(self._handle, index, alive, limit_s, ctypes.byref(state),
                                                 ctypes.byref(bracket)))
        return state.value, bracket

    def answer(self, alive, limit_s):
        """(state, Answer, readings, milliseconds of the fake's clock)."""
        state, answer = ctypes.c_int32(), native.Answer()
        readings, scripted = native.array_of(native.Reading, self._calls), (ctypes.c_double * self._calls)()
        native.check(self._library.pl_page_answer(self._handle, alive, limit_s, ctypes.byref(state), ctypes.byref(answer),
                                                  readings, scripted))
        count = min(answer.calls, self._calls)
        return state.value, answer, list(readings[:count]), list(scripted[:count])

    def taken(self):
        """Lets the other process go on."""
        native.check(self._library.pl_page_taken(self._handle))


def output_specs(specs, word_of, strides):
    """The specs of outputs as the C library reads them; word_of(dtype name) is the dtype's object or letter, `strides` those
    of the outputs that calls write in place (a list for each, or an empty list)."""
    made = native.array_of(native.OutputSpec, len(specs))
    for one, spec in zip(made, specs):
        one.dtype, one.dims, one.offset = word_of(spec["dtype"]), len(spec["shape"]), spec["offset"]
        one.item_bytes = spec["item_bytes"]
        for place, size in enumerate(spec["shape"]):
            one.shape[place] = size
    for one, steps in zip(made, strides):
        for place, step in enumerate(steps):
            one.strides[place] = step
    return made
