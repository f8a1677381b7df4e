# SPDX-License-Identifier: Apache-2.0
"""Has a helper process that rests, as a compiler's pool does."""
import subprocess
import sys
from base import rmsnorm

_helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)


def run(x, w):
    return rmsnorm(x, w)
