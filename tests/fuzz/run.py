#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer targets, each from its own seeds, and says which stayed clean.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/fuzz/run.py                                        every target, 10 minutes each, one after another
    tests/fuzz/run.py --seconds 60 --jobs 2 bench import_table

Seeds are the committed corpus, a field of every conformance case, the cards, the hardware files and the model
configurations of the tests. What a run finds new stays under build/corpus/TARGET; what breaks a target stands in
build/corpus/TARGET-broken. Exit 1 when a target broke.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROFILE = "tests/fuzz/profile/corpus"
# target: (length limit in bytes, globs of files, (kind of conformance case, field) pairs)
TARGETS = {
    "window_toml": (4096, ["operators/*/window.toml"], [("contract", "toml")]),
    "prep_report": (8192, [], [("prep_report_text", "report_text")]),
    "eval_json": (16384, ["operators/*/runs/*/eval.json", "tests/golden/confirm_*/**/eval.json"], []),
    "kernel_names": (4096, [f"{PROFILE}/identity/*"], []),
    "kernel_identity": (4096, [f"{PROFILE}/identity/*"], []),
    "bench": (16384, ["operators/*/eval/*.py"],
              [("bench_grammar", "bench_py"), ("bench_prep", "bench_py"), ("ncu_run", "ncu_run_py"),
               ("workloads", "bench_py")]),
    "import_ncu_csv": (32768, [f"{PROFILE}/ncu-csv/*"], []),
    "import_nsys_csv": (32768, [f"{PROFILE}/nsys-csv/*"], []),
    "import_nsys_sqlite": (131072, [f"{PROFILE}/nsys-sqlite/*"], []),
    "import_ncu_text": (32768, [f"{PROFILE}/ncu-text/*"], []),
    "import_nsys_console": (32768, [f"{PROFILE}/nsys-console/*"], []),
    "import_nvprof_csv": (32768, [f"{PROFILE}/nvprof-csv/*"], []),
    "import_proton": (32768, [f"{PROFILE}/proton/*"], []),
    "import_rocpd": (131072, [f"{PROFILE}/rocpd/*"], []),
    "import_rocprof_csv": (32768, [f"{PROFILE}/rocprof-csv/*"], []),
    "import_xla_trace": (32768, [f"{PROFILE}/xla-trace/*"], []),
    "import_table": (32768, [f"{PROFILE}/table/*"], []),
    "import_torch_trace": (32768, [f"{PROFILE}/torch-trace/*"], []),
    "layers": (8192, ["tests/shapes/layers.csv", "tests/golden/arch_*/layers.*"], []),
    "hf_config": (8192, ["tests/unit/model/configs/*.json"], []),
    "hardware_file": (65536, ["hardware/*.toml"], []),
    "artifact": (65536, ["tests/golden/arch_*/expected/files/*.json"], []),
}


def seed(target: str, folder: pathlib.Path) -> None:
    limit, globs, fields = TARGETS[target]
    folder.mkdir(parents=True, exist_ok=True)
    texts = set()
    for pattern in globs:
        texts.update(path.read_bytes() for path in ROOT.glob(pattern) if path.is_file())
    for kind, field in fields:
        with (ROOT / f"tests/conformance/cases/{kind}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                value = json.loads(line).get(field)
                if isinstance(value, str):
                    texts.add(value.encode("utf-8", "surrogatepass"))
    for number, text in enumerate(sorted(t for t in texts if len(t) <= limit)):
        (folder / f"seed-{number:05}").write_bytes(text)


def run(target: str, build: pathlib.Path, seconds: int):
    """(target, True when clean, one line about the run)"""
    binary = next(build.rglob(f"fuzz_{target}"), None)
    if binary is None:
        return target, False, f"not built under {build}"
    folder = ROOT / "build/corpus" / target
    broken = ROOT / "build/corpus" / f"{target}-broken"
    broken.mkdir(parents=True, exist_ok=True)
    seed(target, folder)
    begin = time.monotonic()
    done = subprocess.run(
        [binary, f"-max_len={TARGETS[target][0]}", f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={broken}/", folder],
        capture_output=True, text=True, errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    coverage = re.findall(r"cov: (\d+)", done.stderr)
    peak = re.search(r"peak_rss_mb: (\d+)", done.stderr)
    line = (f"{runs[1] if runs else '?'} runs in {time.monotonic() - begin:.0f} s, "
            f"{coverage[-1] if coverage else '?'} edges, {peak[1] if peak else '?'} MB")
    if done.returncode != 0:
        (broken / "log").write_text(done.stderr)
        line += f": exit {done.returncode}, see {broken.relative_to(ROOT)}"
    return target, done.returncode == 0, line


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs libFuzzer targets.")
    parser.add_argument("targets", nargs="*", help="names of targets (all)")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/fuzz")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    clean = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run, target, options.build, options.seconds) for target in options.targets or TARGETS]
        for job in concurrent.futures.as_completed(jobs):
            target, good, line = job.result()
            print(f"{'clean ' if good else 'BROKEN'}  {target:<20} {line}", flush=True)
            clean = clean and good
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
