// SPDX-License-Identifier: Apache-2.0
// The rules that refuse, by small examples; the conformance cases hold them in breadth.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "plumbline/bench/check.h"
#include "plumbline/bench/report.h"

namespace plumbline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SyntaxTree tree_of(const std::string& text) {
  Parsed<SyntaxTree> tree = parse_python(text, "bench.py");
  if (!tree.ok()) throw std::runtime_error(tree.diagnostics[0].message);
  return std::move(*tree.value);
}

std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.diagnostic.code);
  return out;
}

TEST(Prep, TheShallowestCallDecides) {
  const PrepAnswer answer = check_prep(tree_of(
      "def a(x): pass\ndef b(x): pass\nif 1:\n  measure_windows(f, prep=a)\nmeasure_windows(f, prep=b)\n"));
  EXPECT_EQ(answer.name, "b");
  EXPECT_THAT(answer.findings, IsEmpty());
}

TEST(Prep, FindingsPointAtTheArgument) {
  const PrepAnswer answer = check_prep(tree_of("measure_windows(f,\n    prep=lambda x: x)\n"));
  ASSERT_THAT(codes(answer.findings), ElementsAre("prep-not-name"));
  EXPECT_EQ(answer.findings[0].diagnostic.line, 2);
  EXPECT_EQ(answer.findings[0].diagnostic.column, 10);
}

TEST(Problem, LengthIsPythons) {
  EXPECT_EQ(problem_group_length(R"({"group": ["a", "b"]})"), 2U);
  EXPECT_EQ(problem_group_length(R"({"group": "\ud83d\ude00x"})"), 2U);
  EXPECT_EQ(problem_group_length("{\"group\": \"\xF0\x9F\x98\x80x\"}"), 2U);
  EXPECT_EQ(problem_group_length(R"({"group": {"a": 1, "\u0061": 2}})"), 1U);
  EXPECT_EQ(problem_group_length("{\"group\": {\"\xC3\xA9\": 1, \"\\u00e9\": 2, \"\\n\": 3, \"n\": 4}}"), 3U);
  EXPECT_EQ(problem_group_length("{\"\x96\": 1, \"group\": [1]}"), std::nullopt) << "not UTF-8";
  EXPECT_EQ(problem_group_length(R"({"group": [NaN, -Infinity, 1e5, {}]})"), 4U);
  EXPECT_EQ(problem_group_length(R"({"group": ["a"], "group": []})"), 0U);
  for (const char* bad :
       {"", "[]", "{\"group\": 1}", "{}", "{\"group\": [1,]}", "{\"group\": [01]}", "{\"group\": []} x",
        "{\"group\": [\"\n\"]}", "\xEF\xBB\xBF{\"group\": [1]}", "{'group': []}"}) {
    EXPECT_EQ(problem_group_length(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(problem_group_length(std::string(100'000, '[')), std::nullopt);
}

/// A scratch folder, removed at the end.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "plumbline_bench_XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

BenchReport report_of(const std::string& bench) {
  BenchRequest request;
  request.bench = bench;
  return check_bench(request);
}

TEST(Report, FilesThatAreNone) {
  const Folder folder;
  std::filesystem::create_symlink("nowhere", folder.path + "/link.py");
  std::filesystem::create_directory(folder.path + "/folder.py");
  std::ofstream(folder.path + "/bytes.py") << "x = '\xFF'\n";
  std::ofstream(folder.path + "/nul.py") << std::string("x = 1\0\n", 7);
  EXPECT_THAT(codes(report_of(folder.path + "/link.py").findings), ElementsAre("bench-unreadable"));
  EXPECT_THAT(codes(report_of(folder.path + "/folder.py").findings), ElementsAre("bench-unreadable"));
  EXPECT_THAT(codes(report_of(folder.path + "/bytes.py").findings), ElementsAre("bench-unreadable"));
  EXPECT_THAT(codes(report_of(folder.path + "/nul.py").findings), ElementsAre("bench-syntax"));
  EXPECT_THAT(codes(report_of(folder.path + "/absent.py").findings), IsEmpty());
}

TEST(Report, LargeFiles) {
  const Folder folder;
  std::ofstream(folder.path + "/large.py") << std::string(17 << 20, '#');
  EXPECT_THAT(codes(report_of(folder.path + "/large.py").findings), ElementsAre("bench-unreadable"));
  std::string lines;
  while (lines.size() < 5'000'000) lines += "x = f(a, b, [1, 2, 3], key='value')\n";
  std::ofstream(folder.path + "/five.py") << lines;
  EXPECT_THAT(codes(report_of(folder.path + "/five.py").findings),
              ElementsAre("prep-not-passed", "workloads-not-called"));
}

TEST(Report, HiddenLinesAreSaid) {
  const Folder folder;
  std::ofstream(folder.path + "/cr.py") << "# harmless\rmeasure_windows_workloads([1])\n";
  EXPECT_THAT(codes(report_of(folder.path + "/cr.py").warnings), ElementsAre("bench-lone-cr"));
  std::ofstream(folder.path + "/cookie.py") << "# coding: latin-1\nx = 1\n";
  EXPECT_THAT(codes(report_of(folder.path + "/cookie.py").warnings), ElementsAre("bench-coding"));
}

}  // namespace
}  // namespace plumbline
