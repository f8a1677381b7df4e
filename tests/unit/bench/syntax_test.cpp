// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/syntax.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plumbline/bench/calls.h"

namespace plumbline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "" when the text parses, else the message.
std::string verdict(const std::string& text) {
  const Parsed<SyntaxTree> tree = parse_python(text, "t.py");
  return tree.ok() ? "" : tree.diagnostics.at(0).message;
}

/// The last names of the calls, in walk order.
std::vector<std::string> calls(const std::string& text) {
  const Parsed<SyntaxTree> tree = parse_python(text, "t.py");
  std::vector<std::string> names;
  if (!tree.ok()) return {"does not parse: " + tree.diagnostics[0].message};
  for (const SyntaxNode& node : tree.value->nodes()) {
    if (node.kind == NodeKind::call) names.emplace_back(callee_name(*tree.value, node));
  }
  return names;
}

TEST(Syntax, CallsComeInTheOrderOfAstWalk) {
  EXPECT_THAT(calls("if x:\n  a()\nelif y:\n  b()\nelse:\n  c()\nd()\n"), ElementsAre("d", "a", "b", "c"));
  EXPECT_THAT(calls("x = {f(): g(), h(): i()}\n"), ElementsAre("f", "h", "g", "i"));
  EXPECT_THAT(calls("@deco()\ndef f(a=da(), *, b=db()) -> ret():\n  body()\n"),
              ElementsAre("deco", "ret", "db", "da", "body"));
  EXPECT_THAT(calls("a() + b() + c()\n"), ElementsAre("c", "a", "b"));
  EXPECT_THAT(calls("a() and b() and c()\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(calls("f(k=a(), *b())\n"), ElementsAre("f", "b", "a"));
  EXPECT_THAT(calls("x = a() if b() else c()\n"), ElementsAre("b", "a", "c"));
  EXPECT_THAT(calls("[a() for x in b() if c()]\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(calls("f\"{a()}{b():{c()}}\"\nd()\n"), ElementsAre("d", "a", "b", "c"));
  EXPECT_THAT(calls("with a() as b().x, c():\n  d()\n"), ElementsAre("a", "c", "d", "b"));
}

TEST(Syntax, ParenthesesAddNoLevelAndCallsBeginAtThem) {
  const Parsed<SyntaxTree> tree = parse_python("x = (\n  f)(1)\n", "t.py");
  ASSERT_TRUE(tree.ok());
  for (const SyntaxNode& node : tree.value->nodes()) {
    if (node.kind == NodeKind::call) {
      EXPECT_EQ(tree.value->position(node.begin).line, 1);
    }
  }
}

TEST(Syntax, NamesAreNormalised) {
  EXPECT_THAT(calls("ｆoo()\n"), ElementsAre("foo"));
  EXPECT_THAT(calls("ﬁ()\n"), ElementsAre("fi"));
}

TEST(Syntax, NewGrammarIsAccepted) {
  for (const char* text : {
           "type X[T: int, *Ts, **P] = list[T]\n",                // PEP 695
           "def f[T = int](x: T) -> T: return x\n",               // PEP 696
           "x = f'{a['b']}' f\"{'\\n'.join(c)}\"\n",              // PEP 701
           "try:\n  a\nexcept* (B, C) as d:\n  e\n",              // PEP 654
           "match a:\n  case {'k': [1, *r], **kw} if r: pass\n",  // PEP 634
           "with (a as b, c as d,): pass\n",
           "f\"{x:=}\"\n",
           "print >>f, x\n",
           "\"\\N{Greek Small Letter Mu} \\N{CJK UNIFIED IDEOGRAPH-4E00} \\N{HANGUL SYLLABLE GANJ} "
           "\\N{nbsp}\"\n",
       }) {
    EXPECT_EQ(verdict(text), "") << text;
  }
}

TEST(Syntax, WhatCPythonRefusesIsRefused) {
  for (const char* text : {
           "if x:\n        y\n\tz\n",
           "x = 0777\n",
           "f(a=1, b)\n",
           "f(**k, *a)\n",
           "def f(a=1, b): pass\n",
           "f() = 1\n",
           "u'' b''\n",
           "'\\x1'\n",
           "\"\\N{bogus}\"\n",
           "\"\\N{GREEK_SMALL_LETTER_MU}\"\n",
           "\"\\N{CJK UNIFIED IDEOGRAPH-0041}\"\n",
           "\"\\N{HANGUL SYLLABLE GANI}\"\n",
           "print 'x'\n",
           "x <> y\n",
           "async = 1\n",
           "match x:\n  case 1 + 2: pass\n",
           "try: x\n",
           "f\"{a!x}\"\n",
           "x = (*y)\n",
           "with (a as b), c d: pass\n",
           "class A(x for x in y): pass\n",
           "lambda x=1, y: x\n",
           "x=1\\\n",
           "b'é'\n",
           "1_000_\n",
           "1a\n",
           "del f()\n",
       }) {
    EXPECT_NE(verdict(text), "") << text;
  }
}

TEST(Syntax, WhatOnlyTheCompilerRefusesParses) {
  for (const char* text : {"return 1\n", "def f(x, x): pass\n", "f(a=1, a=2)\n", "await x\n", "break\n",
                           "nonlocal x\n", "*a = 1\n", "try: x\nexcept: y\nexcept E: z\n"}) {
    EXPECT_EQ(verdict(text), "") << text;
  }
}

TEST(Syntax, DepthIsBounded) {
  EXPECT_EQ(verdict(std::string(200, '(') + "x" + std::string(200, ')') + "\n"), "");
  EXPECT_THAT(verdict(std::string(201, '(') + "x" + std::string(201, ')') + "\n"),
              HasSubstr("too many nested"));
  EXPECT_THAT(verdict(std::string(100'000, '(')), HasSubstr("too many nested"));
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_THAT(verdict(nots + "x\n"), HasSubstr("nested too deeply"));
  std::string blocks;
  for (int i = 0; i < 120; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "if x:\n";
  EXPECT_THAT(verdict(blocks), HasSubstr("too many levels of indentation"));
  std::string sum = "x";
  for (int i = 0; i < 200'000; ++i) sum += " + x";
  EXPECT_EQ(verdict(sum + "\n"), "");
  std::string chain = "if a: b\n";
  for (int i = 0; i < 50'000; ++i) chain += "elif a: b\n";
  EXPECT_EQ(verdict(chain), "");
}

TEST(Syntax, ErrorsPointAtTheirPlace) {
  const Parsed<SyntaxTree> tree = parse_python("x = 1\nдруг = (1,\n        ]\n", "t.py");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.diagnostics[0].code, "bench-syntax");
  EXPECT_EQ(tree.diagnostics[0].line, 3);
  EXPECT_EQ(tree.diagnostics[0].column, 9);
}

TEST(Decode, EncodingsAndLineEnds) {
  EXPECT_EQ(decode_python("\xEF\xBB\xBFx\r\ny\rz", "t.py").value->text, "x\ny\nz");
  EXPECT_TRUE(decode_python("x\ry\n", "t.py").value->lone_cr);
  EXPECT_FALSE(decode_python("x\r\ny\r\n", "t.py").value->lone_cr);
  EXPECT_EQ(decode_python("# -*- coding: latin-1 -*-\nx = '\xE9'\n", "t.py").value->text,
            "# -*- coding: latin-1 -*-\nx = 'é'\n");
  for (const char* encoding : {"latin", "ISO_8859-1", "1252", "cp1252", "iso8859-15"}) {
    const std::string line = std::string("# coding=") + encoding + "\nx = '";
    const auto source = decode_python(line + "\xE9'\n", "t.py");
    ASSERT_TRUE(source.ok()) << encoding;
    EXPECT_EQ(source.value->text, line + "é'\n");
  }
  EXPECT_FALSE(decode_python("# coding: -\nx = '\xE9'\n", "t.py").ok());
  EXPECT_EQ(decode_python("\n# vim: set fileencoding=koi8-r :\nx = '\xC1'\n", "t.py").value->cookie,
            "koi8-r");
  EXPECT_EQ(decode_python("x = 1\n# coding: latin-1\ny = '\xE9'\n", "t.py").diagnostics.at(0).code,
            "bench-unreadable");
  EXPECT_EQ(decode_python("# coding: utf-16\nx = '\xE9'\n", "t.py").diagnostics.at(0).code,
            "bench-unreadable");
  EXPECT_EQ(decode_python("# coding: nothing\nx = '\xE9'\n", "t.py").diagnostics.at(0).code,
            "bench-unreadable");
  const Parsed<PythonSource> plain = decode_python("x\n\xFF", "t.py");
  EXPECT_EQ(plain.diagnostics.at(0).line, 2);
}

}  // namespace
}  // namespace plumbline
