#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page promises, read without a browser: the same bytes twice, nothing asked for, style and script named by their hashes, real tables,
every chart titled, no dangling id, at most 300 KB, and nothing left when the file cannot be written."""
import base64
import hashlib
import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = str(pathlib.Path(sys.argv[1]).resolve())
CARD = "operators/attention_backward"
PAGES = {
    "confirm": ["confirm", CARD, "--run", "h200_price"],
    "rank": ["arch", "rank"],
    "search": ["arch", "search", "tests/golden/terminal_search/space.toml"],
    "search_uncertain": ["arch", "search", "tests/golden/search_uncertain/scatter.toml"],
    "sweep": ["arch", "sweep", "--dim", "hidden_dim=3840:4352:32"],
    "report": ["arch", "report", "--hardware", "h200", "--hardware", "h100"],
    "preset": ["arch", "report", "--hardware", "h100", "--preset", "noeris-quality"],
    "accuracy": ["hardware", "validate", "h200", "tests/validation/h200/gemm.csv"],
}
VOID = {"meta", "br", "link", "input", "img", "hr"}


class Reader(html.parser.HTMLParser):
    """Elements with their attributes, the nesting checked."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.text = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def policy_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check(name, text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == [], f"{name}: left open: {reader.open}"
    assert len(text.encode()) <= 300_000, f"{name}: {len(text.encode())} bytes"
    policy = next(a["content"] for t, a in reader.seen if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    for block in re.findall(r"<style>(.*?)</style>", text, re.S) + re.findall(r"<script>(.*?)</script>", text, re.S):
        assert policy_hash(block) in policy, f"{name}: a style sheet or script that its own policy blocks"
    ids = [a["id"] for _, a in reader.seen if "id" in a]
    assert len(ids) == len(set(ids)), f"{name}: an id appears twice"
    for tag, attributes in reader.seen:
        for key, value in attributes.items():
            assert key not in ("src", "srcset", "style", "data") and not key.startswith("on"), f"{name}: <{tag} {key}>"
            if key == "href":
                assert value.startswith("#") and value[1:] in ids, f"{name}: a link to {value}"
            if key in ("aria-labelledby", "aria-describedby", "data-more", "data-points"):
                assert all(each in ids for each in value.split()), f"{name}: {key}={value} names nothing"
    tags = [t for t, _ in reader.seen]
    assert tags.count("h1") == 1 and tags.count("main") == 1
    assert tags.count("caption") == tags.count("table") > 0, f"{name}: a table without a caption"
    assert tags.count("figcaption") == tags.count("figure"), f"{name}: a chart without a caption"
    for word in ("NaN", "nan<", "inf<", "undefined"):
        assert word not in re.sub(r"<script.*?</script>", "", text, flags=re.S), f"{name}: '{word}' is shown"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, command in PAGES.items():
            made = []
            for n in (1, 2):
                path = pathlib.Path(folder) / f"{name}{n}.html"
                done = subprocess.run([TOOL, *command, "--html", str(path)], capture_output=True, text=True)
                assert done.returncode in (0, 1), f"{name}: {done.stderr}"
                made.append(path.read_bytes())
            assert made[0] == made[1], f"{name}: other bytes the second time"
            check(name, made[0].decode())
            print(f"{name}: {len(made[0])} bytes")
            lost = pathlib.Path(folder) / "none" / "page.html"
            done = subprocess.run([TOOL, *command, "--html", str(lost)], capture_output=True, text=True)
            assert done.returncode == 2 and "error" in done.stderr, f"{name}: exit {done.returncode} for a folder that is not there"
            assert not lost.exists()
            held = pathlib.Path(folder) / "command.html"
            held.write_text("before")
            subprocess.run([TOOL, *command, "--html", str(held)], capture_output=True)
            assert held.read_bytes() == made[0]
    return 0


if __name__ == "__main__":
    sys.exit(main())
