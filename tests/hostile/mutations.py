# SPDX-License-Identifier: Apache-2.0
"""What is done to a file before a command reads it."""
import gzip
import os
import re

NUMBERS = (b"1e999", b"-1e999", b"nan", b"NaN", b"Infinity", b"-Infinity", b"1e-400", b"-0", b"9223372036854775807",
           b"9223372036854775808", b"18446744073709551616", b"-1", b"0", b"0x10", b"1_000", b"1,5", b"1.2.3", b"9" * 400, b"")
# What a terminal obeys or does not show, what a spreadsheet runs, what Markdown makes a link or an element of.
TEXTS = (b"\x1b[2J\x1b]0;title\x07", "\u202eevil\u202c".encode(), "a\u200bb\ufeffc".encode(), b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80",
         b"a\x00b", b"a\nb", b"a\rb", b"=cmd|'/c calc'!A0", b"+1+1", b"@SUM(1)", b"<script>alert(1)</script>",
         b"[x](http://evil.example)", b"![x](http://evil.example)", b"| a | b |", b"`` ` ``", b"&lt;b&gt;", b"%s%n%x", b"{}", b"../../x",
         b"/etc/passwd", b"\\u001b[31m", b"\\ud800", b"(a+)+$", b"(?R)", b"(((((((((((a*)*)*)*)*)*)*)*)*)*)*b", b"[[:alpha:]", b"x" * 5000)
TOKENS = (b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b"=", b"#", b"\n", b"\r\n", b"\t", b"\\", b"null", b"true", b"[[", b"]]",
          b'"""', b"'''", b";", b"(", b")", b"\xef\xbb\xbf", b"-", b"---", b"def f(:", b"import ")


def _edit(chance, data):
    """A few local changes."""
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 2, 8, 64)))
        kind = chance.randrange(6)
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:at] + bytes(chance.randrange(256) for _ in range(end - at)) + data[end:]
        elif kind == 2:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif kind == 3:
            data = data[:at] + chance.choice(TOKENS) + data[at:]
        elif kind == 4:
            data = data[:at] + chance.choice(TEXTS) + data[at:]
        else:
            data = data[:at]
    return data


def _pick(chance, pattern, data):
    """A random match of the first few thousand."""
    found = [m.span(m.lastindex or 0) for _, m in zip(range(3000), re.finditer(pattern, data))]
    return chance.choice(found) if found else None


def _replace(chance, data, pattern, with_what):
    for _ in range(chance.choice((1, 1, 3))):
        place = _pick(chance, pattern, data)
        if place:
            data = data[:place[0]] + chance.choice(with_what) + data[place[1]:]
    return data


def _number(chance, data):
    return _replace(chance, data, rb"-?\d+(?:\.\d+)?", NUMBERS)


def _string(chance, data):
    return _replace(chance, data, rb'"([^"\n]*)"', TEXTS)


def _line(chance, data):
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at:at] = [lines[at]] * chance.choice((1, 3, 300))
    elif kind == 2:
        chance.shuffle(lines)
    else:
        lines.insert(at, lines[chance.randrange(len(lines))])
    return b"\n".join(lines)


def _cut(chance, data):
    return data[:chance.randrange(len(data) + 1)]


def _deep(chance, data):
    count = chance.choice((50, 150, 250, 5000, 150000))
    opening = chance.choice((b"[", b'{"a":', b"a.", b"(", b"{a=", b"[[", b'"', b"a = [", b"-", b"not ", b"if 1:\n "))
    made = opening * count
    return chance.choice((made, b"a = " + made, data + b"\n" + made, made + data, b"[" + b"a." * count + b"a]\nx = 1\n",
                          b'{"kernels":' + made))


def _wide(chance, data):
    count = chance.choice((1000, 20000, 80000))
    kind = chance.randrange(6)
    if kind == 0:
        return data + b"\n" + b"".join(b"k%d = 1\n" % i for i in range(count))
    if kind == 1:
        return b"{" + b",".join(b'"k%d":1' % i for i in range(count)) + b"}"
    if kind == 2:
        return b",".join(b"c%d" % i for i in range(count)) + b"\n" + b",".join([b"1"] * count) + b"\n"
    if kind == 3:
        first, _, rest = data.partition(b"\n")
        return first + b"\n" + (rest.split(b"\n")[0][:200] + b",,x\n") * count
    if kind == 4:
        return b"[" + b",".join([b"{}"] * count) + b"]"
    return b"x" * (20 * count)


def _encode(chance, data):
    kind = chance.randrange(5)
    if kind == 0:
        return b"\xef\xbb\xbf" + data
    if kind == 1:
        return data.decode("latin-1").encode("utf-16")
    if kind == 2:
        return data.replace(b"\n", b"\r")
    if kind == 3:
        return data.replace(b"e", b"\xe9", chance.choice((1, -1)))
    return data.replace(b"\n", b"\x00\n", 2)


def _packed(chance, data):
    whole = gzip.compress(data, 1)
    return chance.choice((whole, whole[:-6], whole[:len(whole) // 2], whole + whole, whole + b"\x00" * 50, gzip.compress(whole, 1), BOMB,
                          b"\x1f\x8b" + bytes(20), whole[:12] + b"\xff\xff" + whole[14:]))


def _whole(chance, _data):
    return chance.choice((b"", b"\n", b"\x00" * 4096, bytes(chance.randrange(256) for _ in range(300)), b"null", b"[]", b"{}", b"0",
                          b'""', b"true", b"\x7fELF\x02\x01\x01", b"SQLite format 3\x00", b"SQLite format 3\x00" + bytes(4080), b"PK\x03\x04", b"%PDF-1.4",
                          b"[1,2", b'{"schema":"plumbline-table/1"}', b"\xff" * 100, b"\n" * 100000))


def _key_twice(chance, data):
    place = _pick(chance, rb'"(\w+)"\s*:\s*', data)
    if not place:
        return _edit(chance, data)
    key = data[place[0]:place[1]]
    return data[:place[0] - 1] + b'"' + key + b'": ' + chance.choice(NUMBERS + (b"null", b"[]")) + b", " + data[place[0] - 1:]


BOMB = gzip.compress(bytes(1 << 20), 9) * 600  # 600 MB of zeros in 600 KB
KINDS = ((_edit, 30), (_number, 25), (_string, 25), (_line, 8), (_cut, 5), (_key_twice, 8), (_encode, 5), (_whole, 6), (_deep, 4),
         (_wide, 1), (_packed, 4))


def mutate(chance, data):
    """`data`, made hostile; sometimes twice."""
    for _ in range(chance.choice((1, 1, 1, 2))):
        kind = chance.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]
        data = kind(chance, data)
    return data


def odd_file(chance, path):
    """In place of the file something that is none, or not a plain one."""
    if os.path.lexists(path):
        os.unlink(path)
    kind = chance.randrange(7)
    if kind == 0:
        os.mkdir(path)
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        os.symlink(os.path.basename(path), path)
    elif kind < 6:
        os.symlink(("/dev/zero", "/dev/null", "/dev/full")[kind - 3], path)
