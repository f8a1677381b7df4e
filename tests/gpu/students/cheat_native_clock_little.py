# SPDX-License-Identifier: Apache-2.0
"""Native code that stays within what the harness's clock lets pass: 1.5 % less."""
# Caught as: nothing
import ctypes
import os
import subprocess
import tempfile
import attack
from base import rmsnorm

_SOURCE = r"""
#include <pthread.h>
#include <stdint.h>
#include <string.h>
static volatile char *orders, *answers;
static double factor;
static int scripted;
static void* work(void* unused) {
  int32_t last = *(volatile int32_t*)(answers + 256);
  for (;;) {
    int32_t done = *(volatile int32_t*)(answers + 256);
    if (done == last) continue;
    last = done;
    int32_t calls = *(volatile int32_t*)(orders + 148);
    for (int i = 0; i < calls; ++i) {
      volatile char* one = answers + 552 + 72 * i;
      *(volatile double*)(one + 24) *= factor;
      *(volatile double*)(one + 32) *= factor;
      if (scripted) *(volatile double*)(answers + 552 + 73728 + 8 * i) = *(volatile double*)(one + 32);
    }
  }
  return unused;
}
void start(char* o, char* a, double f, int s) {
  pthread_t thread;
  orders = o, answers = a, factor = f, scripted = s;
  pthread_create(&thread, 0, work, 0);
}
"""
_folder = tempfile.mkdtemp()
with open(os.path.join(_folder, "native.c"), "w") as _file:
    _file.write(_SOURCE)
subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", os.path.join(_folder, "native.so"),
                       os.path.join(_folder, "native.c"), "-lpthread"])
_native = ctypes.CDLL(os.path.join(_folder, "native.so"))
_native.start(ctypes.c_void_p(attack.ORDERS), ctypes.c_void_p(attack.ANSWERS), ctypes.c_double(0.985), 1)


def run(x, w):
    return rmsnorm(x, w)
