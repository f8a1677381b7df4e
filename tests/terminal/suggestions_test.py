#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A misspelt word gets the right one as a suggestion, at every level: each command and subcommand with a letter dropped, and each long
option with two letters swapped. Usage: suggestions_test.py PLUMBLINE"""
import concurrent.futures
import os
import re
import subprocess
import sys

HEADING = re.compile(r"^## plumbline (.+)$", re.M)
OPTION = re.compile(r"^\| `(?:-\w, )?--([a-z][a-z-]+)", re.M)


def commands(tool):
    """[(words of a command, its long options)], from the tool's own reference."""
    text = subprocess.run([tool, "man", "--md"], capture_output=True, text=True, check=True).stdout
    parts = HEADING.split(text)
    return [(name.split(), OPTION.findall(body)) for name, body in zip(parts[1::2], parts[2::2])]


def misspelt(tool):
    """(words to try, the word that must be suggested)"""
    for words, options in commands(tool):
        last = words[-1]
        if len(last) > 3:
            yield words[:-1] + [last[:-2] + last[-1]], last
        for option in options:
            if len(option) > 4:
                yield words + ["--" + option[:2] + option[3] + option[2] + option[4:]], "--" + option


def main():
    tool = os.path.abspath(sys.argv[1])
    names = {(*words[:-1],): set() for words, _ in commands(tool)}
    for words, _ in commands(tool):
        names[(*words[:-1],)].add(words[-1])

    def try_one(case):
        words, right = case
        if words[-1] in names.get((*words[:-1],), ()) or words[-1] == right:
            return None  # the misspelling is a word of its own
        done = subprocess.run([tool, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        if done.returncode == 2 and "did you mean" in done.stderr and right in done.stderr.split("did you mean")[1].split("\n")[0]:
            return ""
        return "plumbline %s: exit %d, %s" % (" ".join(words), done.returncode, done.stderr.strip()[-200:])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = [result for result in pool.map(try_one, misspelt(tool)) if result is not None]
    failures = [result for result in results if result]
    print("\n".join(failures + ["%d misspelt words, %d without the right suggestion" % (len(results), len(failures))]))
    return 1 if failures or len(results) < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
