# SPDX-License-Identifier: Apache-2.0
"""What attacks on the harness's own memory share: where it lies, what it says, and the driver's functions in it."""
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import time
import torch
from base import rmsnorm

_libc = ctypes.CDLL(None, use_errno=True)
DONE, READINGS, SCRIPTED = 256, 552, 552 + 1024 * 72  # places in the answers, which lie a page behind the marks


def _maps():
    with open("/proc/self/maps") as stream:
        for line in stream:
            fields = line.split()
            start, end = (int(part, 16) for part in fields[0].split("-"))
            yield start, end, fields[1], fields[5] if len(fields) > 5 else ""


def mapped(name):
    """The first address of a memory file of the harness."""
    return min(start for start, _, _, label in _maps() if name in label or name in label.replace("\\040", " "))


def word(address):
    """A 32-bit word of memory."""
    return ctypes.c_int32.from_address(address).value


ORDERS, MARKS = mapped("plumbline-orders"), mapped("plumbline-answers")
ANSWERS = MARKS + 4096


def number():
    """The order that is being worked on."""
    return word(ORDERS + 136)


def epoch():
    """Its first window."""
    return word(ORDERS + 140)


def calls():
    """How many calls it has."""
    return word(ORDERS + 148)


def done():
    """The last order that was answered."""
    return word(ANSWERS + DONE)


def halve(times=0.5, fake=False):
    """Rewrites the readings of the answer; `fake`: also what the fake device's clock would say."""
    for index in range(calls()):
        one = ANSWERS + READINGS + 72 * index
        for place in (24, 32):  # ms, window_ms
            value = ctypes.c_double.from_address(one + place)
            value.value *= times
        if fake:
            ctypes.c_double.from_address(ANSWERS + SCRIPTED + 8 * index).value = ctypes.c_double.from_address(one + 32).value


def outbox(slot_bytes):
    """The device address from which the harness takes outputs: in its server's memory, before the size of a slot."""
    worker = next(o for o in gc.get_objects() if type(o).__name__ == "Worker")
    words = (ctypes.c_uint64 * 100).from_address(worker._server.value)
    return next((words[i] for i in range(99) if words[i + 1] == slot_bytes and words[i] > 1 << 20), None)


def driver_words(symbol):
    """The places in writable or anonymous memory that hold the address of a driver's function, made writable."""
    address = ctypes.cast(getattr(ctypes.CDLL("libcuda.so.1"), symbol), ctypes.c_void_p).value
    found, before = [], ""
    for start, end, mode, label in list(_maps()):
        of_harness = "libplumbline_timing" in label or "libplumbline_timing" in before and not label
        page = not label and mode.startswith("r--") and end - start <= 1 << 16
        before = label or before
        if not (of_harness and mode.startswith("r") or page):
            continue
        hits = [place for place in range(start, end - 7, 8) if ctypes.c_uint64.from_address(place).value == address]
        if hits and (mode.startswith("rw") or _libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 3) == 0):
            found += hits
    return address, found


class Memory:
    """Device memory as PyTorch takes it."""

    def __init__(self, address, shape, kind):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": kind, "data": (address, False), "version": 3}


def view(address, like):
    """A tensor like `like` at a device address."""
    return torch.as_tensor(Memory(address, (like.numel() * like.element_size(),), "|u1"), device="cuda").view(
        like.dtype).view(like.shape)


class Behind:
    """Does the calls of a window once it is over, into the memory that the harness takes outputs from."""

    def __init__(self):
        sys.setswitchinterval(1e-6)
        self.stream, self.todo, self.order = torch.cuda.Stream(), [], None

    def note(self, x, w):
        """A call: nothing is done now."""
        if number() != self.order:
            self.order = number()
            del self.todo[:]
        self.todo.append((x, w))
        return torch.empty_like(x)

    def step(self):
        """All of them, where the window is over."""
        if not self.todo or len(self.todo) < calls() or done() < number():
            return
        todo, self.todo = self.todo, []
        size = todo[0][0].numel() * todo[0][0].element_size()
        box = outbox(size)
        with torch.cuda.stream(self.stream), torch.no_grad():
            for index, (x, w) in enumerate(todo if box else ()):
                view(box + index * size, x).copy_(rmsnorm(x, w))
        self.stream.synchronize()

    def loop(self):
        """For a thread."""
        while True:
            self.step()
            time.sleep(0)


_NATIVE = r"""
#include <pthread.h>
#include <stdint.h>
static volatile char *orders, *answers;
static double share, less_ms;
static void* work(void* unused) {
  int32_t last = *(volatile int32_t*)(answers + 256);
  for (;;) {
    int32_t done = *(volatile int32_t*)(answers + 256);
    if (done == last) continue;
    last = done;
    int32_t calls = *(volatile int32_t*)(orders + 148);
    for (int i = 0; i < calls; ++i) {
      volatile double* ms = (volatile double*)(answers + 552 + 72 * i + 24);
      double window = ms[1] * share - less_ms;
      ms[0] *= window / ms[1];
      ms[1] = window;
      *(volatile double*)(answers + 552 + 73728 + 8 * i) = window;
    }
  }
  return unused;
}
void start(char* o, char* a, double s, double ms) {
  pthread_t thread;
  orders = o, answers = a, share = s, less_ms = ms;
  pthread_create(&thread, 0, work, 0);
}
"""


def native_clock(share, less_ms=0.0):
    """From now on a thread that no lock of Python stops rewrites every answer: a window w becomes share * w - less_ms."""
    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "native.c"), os.path.join(folder, "native.so")
    with open(source, "w") as stream:
        stream.write(_NATIVE)
    subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lpthread"])
    ctypes.CDLL(library).start(ctypes.c_void_p(ORDERS), ctypes.c_void_p(ANSWERS), ctypes.c_double(share), ctypes.c_double(less_ms))
