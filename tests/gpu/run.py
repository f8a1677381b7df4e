# SPDX-License-Identifier: Apache-2.0
"""Runs the GPU tests, or with --students the whole suite of cheats and honest kernels; exits 77 with a printed reason where
there is no GPU or no PyTorch."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def missing():
    """Why nothing can be run here, or None."""
    import plumbline
    try:
        import torch
    except ImportError:
        return "no PyTorch for %s (set PLUMBLINE_GPU_PYTHON)" % sys.executable
    return None if torch.cuda.is_available() else plumbline.describe()


def main():
    reason = missing()
    if reason:
        print("skipped:", reason)
        return 77
    import plumbline
    import torch
    print("plumbline %s, PyTorch %s, %s, %s" % (plumbline.version(), torch.__version__, torch.cuda.get_device_name(0),
                                                plumbline.describe()), flush=True)
    if "--students" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.call([sys.executable, os.path.join(HERE, "suite.py"), os.path.join(folder, "suite.jsonl")])
    return subprocess.call([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", HERE])


if __name__ == "__main__":
    sys.exit(main())
