#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only a terminal shows, on a pseudo-terminal: colour (unless NO_COLOR), its width, and progress on standard error after two seconds.
Usage: terminal_test.py PLUMBLINE"""
import concurrent.futures
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = os.path.abspath(sys.argv[1])
SLOW_S = 3.2  # progress begins after two seconds


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "TERM")}
    return {**kept, "TERM": "xterm-256color", **more}


def on_terminal(columns, words, which, feed=None, **env):
    """(what the terminal received, what the other stream did): `which` of stdout and stderr is a terminal of so many columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, which: child}
    process = subprocess.Popen([TOOL, *words], cwd=ROOT, env=environment(**env), stdin=subprocess.PIPE if feed else subprocess.DEVNULL, **streams)
    os.close(child)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        def read_terminal():
            got = b""
            while True:
                try:
                    part = os.read(parent, 65536)
                except OSError:  # the other end is closed
                    return got
                if not part:
                    return got
                got += part
        shown = pool.submit(read_terminal)
        other = pool.submit((process.stderr if which == "stdout" else process.stdout).read)
        if feed:
            feed(process.stdin)
            process.stdin.close()
        process.wait(timeout=120)
        result = shown.result().decode().replace("\r\n", "\n"), other.result().decode()
    os.close(parent)
    return result


def slowly(stdin):
    data = (ROOT / "tests/data/h200_attention_backward/stu.ncu.csv").read_bytes()
    stdin.write(data[:-1])
    stdin.flush()
    time.sleep(SLOW_S)
    stdin.write(data[-1:])


def check(what, holds, shown):
    if not holds:
        print("not so: %s\n%r" % (what, shown[:2000]))
        sys.exit(1)


def main():
    rank = ["arch", "rank", "--hardware", "a100", "--model", "proxy"]
    for columns in (44, 60, 100):
        shown, _ = on_terminal(columns, rank, "stdout")
        check("colour on a terminal", "\x1b[1m" in shown, shown)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        table = plain.split("\n", 1)[1]
        check("every line of the table fits %d columns" % columns, max(map(len, table.splitlines())) <= columns, plain)
        check("every layer stands in it", "llama3_70b" in plain, plain)
    shown, _ = on_terminal(60, rank, "stdout", NO_COLOR="1")
    check("NO_COLOR switches colour off", "\x1b" not in shown, shown)
    shown, _ = on_terminal(60, rank + ["--color", "never"], "stdout")
    check("--color never", "\x1b" not in shown, shown)

    jobs = {"progress": ([], "stderr"), "quiet": (["--quiet"], "stderr"), "piped": ([], "stdout")}
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = {name: pool.submit(on_terminal, 80, ["import", "-", *more], which, slowly) for name, (more, which) in jobs.items()}
    shown, printed = runs["progress"].result()
    check("progress after two seconds", re.search(r"reading -: .*(so far|/s)", shown), shown)
    check("the line is erased", shown.endswith("\r\x1b[2K"), shown)
    check("the table is on standard output", "flash_fwd_kernel" in printed and "reading" not in printed, printed)
    shown, printed = runs["quiet"].result()
    check("--quiet shows no progress", shown == "" and "flash_fwd_kernel" in printed, shown)
    shown, other = runs["piped"].result()
    check("no progress where standard error is not a terminal", other == "" and "reading" not in shown, other)
    print("colour, width and progress are as they should be")


if __name__ == "__main__":
    main()
