#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the identities in kernel_names.txt to a rule that knows nothing of the reader under test: cut a name at its first
bracket and take what stands behind the last scope. What that rule cannot see is listed, and was read by a person."""

import collections
import pathlib
import re
import sys

READ_BY_HAND = {
    "kernel_flash_fwd_object_at_0x7f12ab34cd00_tensor000",  # an address in the name
    "cudapy::__main__::add_one$241(Array<float, 1, C, mutable, aligned>)",  # Numba's number of the function
    "ns::Matrix::operator()(int) const",  # a bracket that is name
}


def identity(name: str) -> str:
    name = re.sub(r" \[clone [^\]]*\]$", "", name)
    name = re.sub(r"\.kd$", "", name)
    if name.startswith("_Z"):
        nested = name[2] == "N"
        rest = re.sub(r"^(N|L)?", "", name[2:])
        last = ""
        while match := re.match(r"\d+", rest):
            rest = rest[match.end():]
            last, rest = rest[: int(match[0])], rest[int(match[0]):]
            if not nested:
                break
        return last
    if match := re.match(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_(.*)", name):
        return "__omp_offloading_" + match[1]
    name = name.replace("(anonymous namespace)", "A")
    name = re.sub(r"(?<!\w)<unnamed>|(?<![\w<])unnamed>", "A", name)
    name = re.sub(r"^void ", "", name)
    name = re.sub(r"^std::enable_if<.*?>::type ", "", name)
    return re.split(r"[<(\[]", name, maxsplit=1)[0].strip().split("::")[-1]


def main() -> int:
    names = collections.defaultdict(list)
    group = ""
    for line in pathlib.Path(__file__).with_name("kernel_names.txt").read_text().splitlines():
        if line.startswith("  "):
            names[group].append(line[2:].removeprefix("~ "))
        elif line and not line.startswith("#"):
            group = line
            names[group] = names[group]
    bad = [(name, expected) for expected, all_names in names.items() for name in all_names
           if name not in READ_BY_HAND and identity(name) != expected]
    for name, expected in bad:
        print(f"{name[:100]}: {identity(name)!r}, and the list says {expected!r}")
    count = sum(max(1, len(all_names)) for all_names in names.values())
    if count < 300:
        print(f"only {count} names")
    print(f"{count} names of {len(names)} kernels, {len(bad)} against the rule")
    return 1 if bad or count < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
