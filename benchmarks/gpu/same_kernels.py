# SPDX-License-Identifier: Apache-2.0
"""The same calls under every profiler at hand (the recorder, PyTorch's profiler, Proton, Nsight Compute, Nsight Systems):
each must give the same kernels, as often. Times stand side by side; Nsight Compute's are of one kernel at a time.
Needs the binary (PLUMBLINE names it). Usage: same_kernels.py OUT_FOLDER; exits 1 where two tables differ."""
import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time

CALLS = 10


def workload():
    """One call: a Triton kernel, a product, a softmax, a norm, a reduction and elementwise kernels of PyTorch."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scaled_add(x, y, out, scale, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < count
        tl.store(out + at, tl.load(x + at, mask) * scale + tl.load(y + at, mask), mask)

    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    y = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    weight = torch.ones(4096, device="cuda", dtype=torch.bfloat16)

    def call():
        scaled_add[(x.numel() // 1024,)](x, y, out, 0.5, x.numel(), BLOCK=1024)
        z = torch.mm(out, y)
        z = torch.softmax(z, dim=-1)
        z = torch.nn.functional.layer_norm(z, (4096,), weight)
        z = (z * 2).transpose(0, 1).contiguous()
        return torch.cat([z, x]).float().sum(dim=0)
    return torch, call


def child(options):
    torch, call = workload()
    with open(options.lock, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one at a time on the GPU; the start of Python overlaps
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        if options.child == "torch":
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                                    torch.profiler.ProfilerActivity.CUDA]) as profiler:
                for _ in range(CALLS):
                    call()
                torch.cuda.synchronize()
            profiler.export_chrome_trace(options.out)
        elif options.child == "proton":
            import triton.profiler as proton
            proton.start(options.out.removesuffix(".hatchet"))
            for _ in range(CALLS):
                call()
            torch.cuda.synchronize()
            proton.finalize()
        else:
            torch.cuda.profiler.start()
            for _ in range(CALLS):
                call()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()


def commands(folder):
    """What each tool runs, and the file it leaves."""
    me = [sys.executable, os.path.abspath(__file__), folder, "--lock", os.path.join(folder, "lock")]
    file = lambda name: os.path.join(folder, name)
    out = {
        "recorder": ([os.environ["PLUMBLINE"], "record", "-o", file("recorder.json"), "--"] + me + ["--child", "plain"],
                     "recorder.json"),
        "torch": (me + ["--child", "torch", "--out", file("torch.json")], "torch.json"),
        "proton": (me + ["--child", "proton", "--out", file("proton.hatchet")], "proton.hatchet"),
    }
    if shutil.which("ncu"):
        ncu = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--metrics", "gpu__time_duration.sum",
               "--print-units", "base"]
        out["ncu"] = (ncu + ["--csv", "--page", "raw", "--log-file", file("ncu.csv")] + me + ["--child", "plain"], "ncu.csv")
        out["ncu text"] = (ncu + ["--log-file", file("ncu.txt")] + me + ["--child", "plain"], "ncu.txt")
    if shutil.which("nsys"):
        out["nsys"] = (["nsys", "profile", "-c", "cudaProfilerApi", "--export", "sqlite", "-o", file("nsys")] + me +
                       ["--child", "plain"], "nsys.sqlite")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--lock")
    parser.add_argument("--child", choices=["plain", "torch", "proton"])
    parser.add_argument("--out")
    parser.add_argument("--only-read", action="store_true", help="the files lie in the folder from before")
    options = parser.parse_args()
    if options.child:
        child(options)
        return 0
    os.makedirs(options.folder, exist_ok=True)
    tools = commands(options.folder)
    if not options.only_read:
        begin = time.time()
        running = {name: subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                   for name, (command, _) in tools.items()}
        for name, process in running.items():
            text = process.communicate()[0]
            print("%-9s exit %d after %.0f s %s" % (name, process.returncode, time.time() - begin,
                                                    text[-600:] if process.returncode else ""), flush=True)
    tables = {}
    for name, (_, file) in tools.items():
        path = os.path.join(options.folder, file)
        if not os.path.exists(path):
            print("%-9s left no file" % name)
            continue
        read = subprocess.run([os.environ["PLUMBLINE"], "import", path, "--calls", str(CALLS), "--json"],
                              capture_output=True, text=True)
        if read.returncode:
            print("%-9s is not read: %s" % (name, (read.stderr or read.stdout)[:600]))
            continue
        sums = {}
        for kernel in json.loads(read.stdout)["kernels"]:
            row = sums.setdefault(kernel["identity"], [0, 0.0])
            row[0] += kernel["launches"]
            row[1] += kernel["time_ns"] / CALLS / 1e3
        tables[name] = sums
    identities = sorted(set().union(*tables.values()), key=lambda k: -max(t.get(k, [0, 0])[1] for t in tables.values()))
    print("%-44s" % "us a call (launches)" + "".join("%17s" % name for name in tables))
    differ = 0
    for identity in identities:
        rows = [table.get(identity, [0, 0.0]) for table in tables.values()]
        differ += len({row[0] for row in rows}) > 1
        print("%-44s" % identity[-44:] + "".join("%11.2f (%3d)" % (us, launches) for launches, us in rows))
    print("%d kernels by %d tools, %d differ in their launches" % (len(identities), len(tables), differ))
    return 1 if differ or len(tables) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
