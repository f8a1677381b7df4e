# SPDX-License-Identifier: Apache-2.0
"""Hostile inputs for every command: each must end by itself with a documented status, in time and within its memory, say why, and
leave nothing half-written. The same seed makes the same inputs.

    tests/hostile/run.py build/release/plumbline [--count 20000] [--seed 1] [--only N] [--keep FOLDER]

`--only N` repeats one number of a seed and says all; `--keep` keeps the folders of those that fail."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import mutations
import recipes

STATUSES = {0, 1, 2, 13}
CPU_S, WALL_S, LARGEST_MIB = 2.0, 60.0, 200
MOST_OF_A_KIND = 100
CODE = re.compile(r"\[([a-z0-9]+(?:-[a-z0-9]+)+|usage)\]$")
# Control characters, direction marks, invisible spaces and joiners, tags: nothing of it belongs on a terminal.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
OUTPUTS = ("new", "existing", "null", "full", "folder", "nowhere", "link", "dangling", "fifo", "input", "small_disk", "small_disk_existing")


def place_output(chance, folder, files, extension):
    """Where a command is to write: (path, what lies there before or None, kind)."""
    kind = chance.choice(OUTPUTS) if chance.random() < 0.7 else "new"
    path = os.path.join(folder, "out" + extension)
    old = b"what stood here before\n"
    if kind in ("existing", "small_disk_existing"):
        with open(path, "wb") as stream:
            stream.write(old)
        return path, old, kind
    if kind in ("null", "full"):
        device = os.path.join(folder, kind)
        try:  # a node of its own: the machine's must not be put at risk
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3 if kind == "null" else 7))
            with open(device, "rb"):
                pass
        except OSError:
            return path, None, "new"
        return device, None, kind
    if kind == "folder":
        os.mkdir(path)
    elif kind == "nowhere":
        return os.path.join(folder, "no", "such", "out" + extension), None, kind
    elif kind == "link":
        with open(path + ".real", "wb") as stream:
            stream.write(old)
        os.symlink(path + ".real", path)
        return path, old, kind
    elif kind == "dangling":
        os.symlink(path + ".real", path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "input" and files:
        return files[0], None, kind
    return path, None, kind


def limits(small_disk):
    """In the child: a file may have 450 bytes where the disk is to be full (a message of what is wrong fits)."""
    if small_disk:
        resource.setrlimit(resource.RLIMIT_FSIZE, (450, 450))


def spawn(words, stdin, stdout, folder, small_disk, environment):
    """(status, stdout, stderr, CPU seconds, MiB, wall seconds); status None where it had to be ended."""
    out, err = open(os.path.join(folder, ".out"), "w+b"), open(os.path.join(folder, ".err"), "w+b")  # noqa: SIM115
    where = {"file": out, "full": "/dev/full", "closed": None}[stdout]
    target = open(where, "wb") if isinstance(where, str) else where  # noqa: SIM115

    def before():
        if stdout == "closed":
            os.close(1)
        limits(small_disk)
    begun = time.monotonic()
    child = subprocess.Popen(words, stdin=stdin, stdout=target, stderr=err, cwd=folder, env=environment,
                             preexec_fn=before if small_disk or stdout == "closed" else None)
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid or time.monotonic() - begun > WALL_S:
            break
        time.sleep(0.002)
    if not pid:
        child.kill()
        _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0  # it has been waited for
    wall = time.monotonic() - begun
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
        stream.close()
        os.unlink(stream.name)
    if isinstance(where, str):
        target.close()
    return (os.waitstatus_to_exitcode(status) if pid else None, *texts, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall)


def digest(path):
    """Of a plain file's content; None of anything else."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).digest()


class Wrong(Exception):
    """What a command did that it must not."""


def hold(words, got, largest, stdout, json_asked):
    """The rules that every end of a command keeps."""
    status, out, err, cpu, mib, wall = got
    if status is None:
        raise Wrong("it had not ended after %.0f s" % wall)
    if status not in STATUSES:
        raise Wrong("status %d" % status)
    if cpu > OPTIONS.cpu_s * (30 if "calibrate" in words else 1):  # fitting is work
        raise Wrong("%.1f s of processor time" % cpu)
    if mib > OPTIONS.mib + largest:
        raise Wrong("%.0f MiB" % mib)
    document = words[:2] in (["ledger", "show"], ["ledger", "export"])  # a stored document, byte for byte
    try:
        texts = [err.decode("utf-8")] + ([] if document else [out.decode("utf-8")])
    except UnicodeDecodeError as error:
        raise Wrong("not UTF-8: %s" % error) from None
    for text in texts:
        for line in text.split("\n"):
            found = HIDDEN.search(line)
            if found:
                raise Wrong("%r in a line of text: %r" % (found.group(), line[max(0, found.start() - 40):found.end() + 20]))
    codes = collections.Counter(m.group(1) for m in map(CODE.search, texts[0].split("\n")) if m)
    if status == 2 and not codes or status == 13 and stdout == "file" and not (codes or out):
        raise Wrong("status %d and no reason: %r" % (status, texts[0][-200:]))
    if codes and max(codes.values()) > MOST_OF_A_KIND + 1:
        raise Wrong("%d messages of one kind" % max(codes.values()))
    if stdout == "full" and status != 2 and out == b"" and not (status in (1, 13)):
        raise Wrong("standard output could not be written, and the status is %d" % status)
    if json_asked and stdout == "file" and out and status != 0 or json_asked and stdout == "file" and status == 0 and not document:
        try:
            json.loads(out)
        except ValueError as error:
            raise Wrong("--json, and standard output is none: %s" % error) from None
    if "--md" in words and not json_asked:
        for bad in ("<script", "](http"):
            if bad in texts[-1].replace("\\" + bad, ""):
                raise Wrong("%s in Markdown" % bad)


def hold_files(folder, before, path, old, kind, status):
    """Inputs as they were, no temporary file, an output whole or as it was."""
    for file, was in before.items():
        if file != path and digest(file) != was:
            raise Wrong("%s has changed" % os.path.basename(file))
    for where, _, names in os.walk(folder):
        for name in names:
            if re.search(r"\.tmp\d|\.partial", name):
                raise Wrong("left behind: %s" % name)
    if kind in ("null", "full") and not stat.S_ISCHR(os.lstat(path).st_mode):
        raise Wrong("the device was replaced")
    if kind == "fifo" and not stat.S_ISFIFO(os.lstat(path).st_mode):
        raise Wrong("the pipe was replaced")
    if kind == "link" and not os.path.islink(path):
        raise Wrong("the link was replaced")
    if path and os.path.isfile(path) and kind not in ("null", "full", "input"):
        with open(path, "rb") as stream:
            now = stream.read()
        if now == old:
            if status == 0:
                raise Wrong("status 0 and nothing written")
        elif not now.endswith(b"\n"):
            raise Wrong("half an output: %d bytes" % len(now))
        elif path.endswith(".json"):
            json.loads(now)


def one(number, seeds, base):
    """What is wrong with one number, or ""; the words of its command."""
    chance = random.Random("%d %d" % (OPTIONS.seed, number))
    folder = os.path.join(base, "n%d" % number)
    os.mkdir(folder)
    words, files, output = recipes.choose(chance, seeds, folder)
    largest = 0
    if files:
        for victim in chance.sample(files, min(len(files), chance.choice((1, 1, 1, 2)))):
            if chance.random() < 0.04:
                mutations.odd_file(chance, victim)
                continue
            with open(victim, "rb") as stream:
                data = stream.read()
            hostile = mutations.mutate(chance, data)
            largest = max(largest, 4 * len(hostile) >> 20)
            with open(victim, "wb") as stream:
                stream.write(hostile)
    words = [w for w in words if "\x00" not in w]
    json_asked, path, old, kind = chance.random() < 0.25, None, None, None
    if json_asked:
        words.insert(0, "--json")
    if output and output != "stdin" and chance.random() < (1.0 if words[-1] == "tiny" else 0.6):
        extension = {"--md-output": ".md", "-o": ".toml" if "calibrate" in words else ".csv" if "csv" in words else ".json"}.get(output, ".json")
        if "export" in words and extension == ".json":
            extension = ".jsonl"
        path, old, kind = place_output(chance, folder, [f for f in files if "ledger" not in words], extension)
        words += [output, path]
    stdout = chance.choices(("file", "full", "closed"), (94, 4, 2))[0]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PLUMBLINE")}
    environment["NO_COLOR"] = "1"
    ledger = [f for f in files if f.endswith(".db")]  # the ledger's own file may be migrated
    before = {f: digest(f) for f in files if f not in ledger}
    stdin = open(files[0], "rb") if output == "stdin" and os.path.isfile(files[0]) else subprocess.DEVNULL  # noqa: SIM115
    small_disk = bool(kind) and kind.startswith("small_disk")
    try:
        got = spawn([OPTIONS.plumbline, *words], stdin, stdout, folder, small_disk, environment)
        if OPTIONS.only is not None:
            print(words, got[0], got[3:], got[1].decode(errors="replace")[:3000], got[2].decode(errors="replace")[:3000], sep="\n")
        stdout = "small" if small_disk and stdout == "file" else stdout
        hold([w for w in words if w != "--json"], got, largest, stdout, json_asked and not {"--help", "--each"} & set(words))
        hold_files(folder, before, path, old, kind, got[0])
        return number, "", words, got
    except Wrong as error:
        if OPTIONS.keep:
            shutil.copytree(folder, os.path.join(OPTIONS.keep, "n%d" % number), symlinks=True, ignore=lambda d, n: [
                f for f in n if not (os.path.isfile(os.path.join(d, f)) or os.path.isdir(os.path.join(d, f)))])
        return number, str(error), words, None
    finally:
        if stdin is not subprocess.DEVNULL:
            stdin.close()
        if OPTIONS.only is None:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    parser.add_argument("--cpu-s", type=float, default=CPU_S)
    parser.add_argument("--mib", type=float, default=LARGEST_MIB)
    OPTIONS = parser.parse_args()
    OPTIONS.plumbline = os.path.abspath(OPTIONS.plumbline)
    begun, wrong, statuses, most = time.monotonic(), 0, collections.Counter(), [0.0, 0.0]
    with tempfile.TemporaryDirectory() as base:
        seeds = recipes.Seeds(OPTIONS.plumbline, base)
        numbers = range(OPTIONS.count) if OPTIONS.only is None else [OPTIONS.only]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for number, trouble, words, got in pool.map(lambda n: one(n, seeds, base), numbers):
                if trouble:
                    wrong += 1
                    print("%d: %s: %s" % (number, " ".join(ascii(w)[1:60] for w in words), trouble), flush=True)
                else:
                    statuses[got[0]] += 1
                    most = [max(most[0], got[3]), max(most[1], got[4])]
    print("%d hostile inputs, %d wrong, %.0f s; status %s; most processor time %.2f s, most memory %.0f MiB" % (
        len(numbers), wrong, time.monotonic() - begun, ", ".join("%d: %d" % kv for kv in sorted(statuses.items())), *most))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
