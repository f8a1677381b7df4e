#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which sources may be compiled as one: prints `SOURCE UNIT` a line for cmake/plumbline.cmake.

Sources that give one name to two things in their unnamed namespaces come into different units, so that nobody has to
know how a build groups the files.

  cmake/unity_groups.py MOST_A_UNIT SOURCE..."""
import pathlib
import re
import sys

BLOCK = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
FUNCTION_OR_VALUE = re.compile(r"^(?!using |return |//|#|\s|\}|TEST)[A-Za-z_].*?\b([A-Za-z_]\w*)\s*(?:\(|=|\{|\[|;)", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class|enum|using) (\w+)", re.M)
ENUMERATORS = re.compile(r"^enum (?!class)[^{]*\{([^}]*)\}", re.S | re.M)
CONSTANTS = re.compile(r"^const(?:expr|init)? [^;]*;", re.S | re.M)  # several in one declaration
FILE_STATIC = re.compile(r"^(?:static|inline) .*?\b([A-Za-z_]\w*)\s*(?:\(|=|\{)", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)


def private_names(path):
    """Names that only this source may see."""
    text = path.read_text(encoding="utf-8")
    names = set(MACRO.findall(text)) | set(FILE_STATIC.findall(text))
    for block in BLOCK.findall(text):
        names |= set(FUNCTION_OR_VALUE.findall(block)) | set(TYPE.findall(block))
        for enumerators in ENUMERATORS.findall(block):
            names |= set(re.findall(r"^\s*(\w+)", enumerators.replace(",", "\n"), re.M))
        for constants in CONSTANTS.findall(block):
            names |= set(re.findall(r"[ ,]([A-Za-z_]\w*)\s*=[^=]", constants))
    return names


def main():
    most, sources = int(sys.argv[1]), sys.argv[2:]
    units = []  # (sources, names)
    for source in sources:
        names = private_names(pathlib.Path(source))
        free = [u for u in units if len(u[0]) < most and not names & u[1]]
        unit = free[0] if free else ([], set())
        if not free:
            units.append(unit)
        unit[0].append(source)
        unit[1].update(names)
    for number, (members, _) in enumerate(units):
        for source in members:
            print(source, number)


if __name__ == "__main__":
    main()
