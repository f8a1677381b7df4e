// SPDX-License-Identifier: Apache-2.0
// Each warning is shown once where it must come and once where it must not.
#include "plumbline/bench/warnings.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plumbline/bench/check.h"

namespace plumbline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

SyntaxTree tree_of(const std::string& text, const std::string& file = "bench.py") {
  Parsed<SyntaxTree> tree = parse_python(text, file);
  if (!tree.ok()) throw std::runtime_error(tree.diagnostics[0].message + " in: " + text);
  return std::move(*tree.value);
}

std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.diagnostic.severity, Severity::warning);
    out.push_back(finding.diagnostic.code);
  }
  return out;
}

std::vector<std::string> bench_codes(const std::string& text, const std::string& folder = {}) {
  const SyntaxTree tree = tree_of(text, folder.empty() ? "bench.py" : folder + "/eval/bench.py");
  ModuleSet modules(folder);
  return codes(bench_warnings(tree, check_prep(tree).name, false, modules));
}

std::vector<std::string> script_codes(const std::string& text, const std::string& bench = {},
                                      const std::vector<std::string>& commands = {}) {
  const SyntaxTree tree = tree_of(text, "ncu_run.py");
  const std::optional<SyntaxTree> bench_tree = bench.empty() ? std::nullopt : std::optional(tree_of(bench));
  return codes(script_warnings(tree, bench_tree ? &*bench_tree : nullptr, "prep", commands));
}

/// A card in a scratch folder, removed at the end.
class Card {
 public:
  Card() {
    std::string pattern = (std::filesystem::temp_directory_path() / "plumbline_bench_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(std::filesystem::path(folder_) / "eval");
  }
  ~Card() { std::filesystem::remove_all(folder_); }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

constexpr const char* kUsesPrep = "\nmeasure_windows(step, prep=prep)\n";

TEST(PrepReach, ThroughTheBenchItself) {
  for (const char* text : {
           "import kernel\ndef helper(x): return kernel.run(x)\ndef prep(x): return helper(x)\n",
           "import kernel\nalias = kernel.run\ndef prep(x): return alias(x)\n",
           "import kernel, functools\np = functools.partial(kernel.run, 1)\ndef prep(x): return p(x)\n",
           "import importlib\ndef prep(x): return importlib.import_module('kernel').run(x)\n",
           "def prep(x): return __import__('kernel.parts').run(x)\n",
           "import sys\ndef prep(x): return sys.modules['kernel'].run(x)\n",
           "from package import kernel\ndef prep(x): return kernel.run(x)\n",
           "import kernel\nclass Helper:\n  def run(self, x): return kernel.run(x)\ndef prep(x): return "
           "Helper().run(x)\n",
       }) {
    EXPECT_THAT(bench_codes(std::string(text) + kUsesPrep), Contains("prep-reaches-kernel")) << text;
  }
}

TEST(PrepReach, NotThroughWhatPrepDoesNotUse) {
  for (const char* text : {
           "import kernel\ndef helper(x): return kernel.run(x)\ndef prep(x): return other(x)\ndef other(x): "
           "return x\n",
           "import kernel\ndef prep(kernel): return kernel\n",
           "import importlib\ndef prep(x): return importlib.import_module('reference').run(x)\n",
           "import kernel_tools\ndef prep(x): return kernel_tools.run(x)\n",
       }) {
    EXPECT_THAT(bench_codes(std::string(text) + kUsesPrep), Not(Contains("prep-reaches-kernel"))) << text;
  }
}

TEST(PrepReach, ThroughModulesOfTheCardAndCircles) {
  const Card card;
  card.write("helpers.py",
             "import more\nimport kernel\ndef make(x): return more.deep(x)\ndef fine(x): return x\n");
  card.write("more.py",
             "from helpers import make\nfrom kernel import run as r\ndef deep(x): return make(r(x))\n");
  card.write("kernel.py", "def run(x): return x\n");
  const std::string tail = kUsesPrep;
  EXPECT_THAT(bench_codes("from helpers import make\ndef prep(x): return make(x)\n" + tail, card.folder()),
              Contains("prep-reaches-kernel"));
  EXPECT_THAT(bench_codes("import helpers as h\ndef prep(x): return h.make(x)\n" + tail, card.folder()),
              Contains("prep-reaches-kernel"));
  EXPECT_THAT(bench_codes("from helpers import fine\ndef prep(x): return fine(x)\n" + tail, card.folder()),
              Not(Contains("prep-reaches-kernel")));
  card.write("a.py", "from b import f\n");
  card.write("b.py", "from a import f\nfrom a import *\n");
  EXPECT_THAT(bench_codes("from a import f\ndef prep(x): return f(x)\n" + tail, card.folder()),
              Not(Contains("prep-reaches-kernel")));
}

std::string timed(const std::string& student, const std::string& reference) {
  return "def student(x):\n  return " + student + "\ndef reference(x):\n  return " + reference +
         "\nmeasure_windows_workloads([1, 2, 3], student=student, reference=reference)\n";
}

TEST(TimedWork, OfOneSide) {
  for (const char* work :
       {"run(x.clone())", "run(x.contiguous())", "run(x.to('cuda'))", "run(x).cpu()", "run(x).item()",
        "run(x, torch.empty(4))", "run(x.fill_(0))", "out.copy_(run(x))", "torch.cuda.synchronize()",
        "print(x)", "autotune(run)(x)", "torch.compile(run)(x)"}) {
    EXPECT_THAT(bench_codes(timed(work, "base(x)")), Contains("timed-extra-work")) << work;
    EXPECT_THAT(bench_codes(timed("run(x)", work)), Contains("timed-extra-work")) << work;
    EXPECT_THAT(bench_codes(timed(work, work)), Contains("timed-extra-work-both")) << work;
    EXPECT_THAT(bench_codes(timed(work, work)), Not(Contains("timed-extra-work"))) << work;
  }
  EXPECT_THAT(bench_codes(timed("run(x)", "base(x)")), IsEmpty());
  EXPECT_THAT(bench_codes(timed("F.scaled_dot_product_attention(x, x, x)", "base(x)")), IsEmpty());
}

TEST(TimedWork, IsFoundInHelpersAndLambdas) {
  EXPECT_THAT(bench_codes("def fix(x): return x.clone()\nmeasure_windows(lambda: run(fix(x)))\n"),
              Contains("timed-extra-work"));
  EXPECT_THAT(
      bench_codes(
          "step = functools.partial(inner, x)\ndef inner(x): return run(x).cpu()\nmeasure_windows(step)\n"),
      Contains("timed-extra-work"));
}

TEST(Sides, SameFunctionAndReferenceFromStudent) {
  EXPECT_THAT(bench_codes("def f(x): return x\nmeasure_windows(f, f)\n"), Contains("sides-same-function"));
  EXPECT_THAT(bench_codes("def f(x): return x\ng = f\nmeasure_windows(f, g)\n"),
              Contains("sides-same-function"));
  EXPECT_THAT(bench_codes("measure_windows_workloads([1, 2, 3], student='kernel:f', reference='kernel:f')\n"),
              Contains("sides-same-function"));
  EXPECT_THAT(
      bench_codes("measure_windows_workloads([1, 2, 3], student='kernel:f', reference='kernel:slow')\n"),
      ElementsAre("sides-one-module", "reference-from-student"));
  EXPECT_THAT(bench_codes("from kernel import run, slow\nmeasure_windows(run, slow)\n"),
              ElementsAre("sides-one-module", "reference-from-student"));
  EXPECT_THAT(
      bench_codes("import kernel\ndef ref(x): return kernel.slow(x)\nmeasure_windows(kernel.run, ref)\n"),
      ElementsAre("reference-from-student"));
  EXPECT_THAT(
      bench_codes("measure_windows_workloads([1, 2, 3], student='kernel:f', reference='reference:f')\n"),
      IsEmpty());
}

TEST(Sides, Keywords) {
  EXPECT_THAT(bench_codes("measure_windows(student, warmup=10)\nmeasure_windows(reference, warmup=100)\n"),
              ElementsAre("sides-keywords-differ"));
  EXPECT_THAT(bench_codes("measure_windows(student)\nmeasure_windows(ref_step, cold=False)\n"),
              ElementsAre("harness-loosened", "sides-keywords-differ"));
  EXPECT_THAT(
      bench_codes(
          "measure_windows(student, warmup=10, name='a')\nmeasure_windows(ref, warmup=10, name='b')\n"),
      IsEmpty());
}

TEST(Inputs, Constant) {
  const std::string tail = "\nmeasure_windows(step, inputs=[make_inputs()])\n";
  EXPECT_THAT(bench_codes("def make_inputs():\n  q = torch.zeros(4)\n  return {'q': q}" + tail),
              ElementsAre("inputs-constant"));
  EXPECT_THAT(bench_codes("def make_inputs():\n  return {'q': torch.randn(4), 'k': torch.ones(4)}" + tail),
              ElementsAre("inputs-constant"));
  EXPECT_THAT(
      bench_codes(
          "def make_inputs():\n  return {'q': torch.randn(4), 'n': torch.zeros(4, dtype=torch.int32)}" +
          tail),
      IsEmpty());
  EXPECT_THAT(bench_codes("def make_inputs():\n  return {'q': torch.randn(4), 'mask': torch.ones(4)}" + tail),
              IsEmpty());
}

TEST(Inputs, Mutated) {
  EXPECT_THAT(bench_codes("def step(x): x.add_(1)\nmeasure_windows(step)\n"), Contains("inputs-mutated"));
  EXPECT_THAT(bench_codes("def step(x): x[0] = 1\nmeasure_windows(step)\n"), ElementsAre("inputs-mutated"));
  EXPECT_THAT(bench_codes("def step(x):\n  y = run(x)\n  y.add_(1)\n  return y\nmeasure_windows(step)\n"),
              IsEmpty());
}

std::vector<std::string> workload_codes(const std::string& text) {
  return codes(warn_workload_count(tree_of(text)));
}

TEST(Workloads, CountedThroughTheFile) {
  for (const char* text : {
           "measure_windows_workloads([w(i) for i in range(2)])\n",
           "WS = [1, 2]\nmeasure_windows_workloads(WS)\n",
           "measure_windows_workloads(list(itertools.product([1, 2], [3])))\n",
           "N = 2\nmeasure_windows_workloads([0] * N)\n",
           "def make(): return [1, 2]\nmeasure_windows_workloads(make())\n",
           "measure_windows_workloads(workloads=[a for a in (1, 2)])\n",
           "measure_windows_workloads([w(i) for i in range(8, 0, -4)])\n",
       }) {
    EXPECT_THAT(workload_codes(text), ElementsAre("workloads-few-known")) << text;
  }
  for (const char* text : {
           "measure_windows_workloads([w(i) for i in range(3)])\n",
           "WS = (1, 2, 3)\nmeasure_windows_workloads(WS)\n",
           "measure_windows_workloads(list(itertools.product([1, 2], [3, 4])))\n",
           "measure_windows_workloads([1, 2])\n",
           "A = [1, 2]\nmeasure_windows_workloads(A + [3])\n",
       }) {
    EXPECT_THAT(workload_codes(text), IsEmpty()) << text;
  }
  for (const char* text : {
           "measure_windows_workloads(load())\n",
           "W = [1, 2]\nW.append(3)\nmeasure_windows_workloads(W)\n",
           "measure_windows_workloads([w for w in ws if w])\n",
           "measure_windows_workloads(w for w in make())\n",
           "W = W\nmeasure_windows_workloads(W)\n",
           "measure_windows_workloads(**k)\n",
       }) {
    EXPECT_THAT(workload_codes(text), ElementsAre("workloads-uncounted")) << text;
  }
}

constexpr const char* kGood =
    "from bench import prep\nx = "
    "prep(1)\nrun(x)\ntorch.cuda.synchronize()\ntorch.cuda.profiler.start()\nrun(x)\n"
    "torch.cuda.synchronize()\ntorch.cuda.profiler.stop()\n";

TEST(Script, AGoodOneIsLeftAlone) { EXPECT_THAT(script_codes(kGood), IsEmpty()); }

std::string without(std::string text, const std::string& line, bool all = false) {
  for (std::size_t at = text.find(line); at != std::string::npos;
       at = all ? text.find(line) : std::string::npos) {
    text.erase(at, line.size());
  }
  return text;
}

TEST(Script, WhatIsMissing) {
  EXPECT_THAT(script_codes(without(kGood, "torch.cuda.synchronize()\n", true)),
              ElementsAre("ncu-no-synchronize"));
  EXPECT_THAT(script_codes(without(kGood, "torch.cuda.profiler.stop()\n")), ElementsAre("ncu-no-stop"));
  EXPECT_THAT(script_codes(without(kGood, "run(x)\n")), ElementsAre("ncu-no-warmup"));
  EXPECT_THAT(script_codes("WARMUP = 0\n" + std::string(kGood)), ElementsAre("ncu-no-warmup"));
  EXPECT_THAT(
      script_codes(
          "from bench import prep\nx = prep(1)\ntorch.cuda.synchronize()\nfor i in range(3):\n  run(x)\n"
          "  torch.cuda.profiler.start()\n  run(x)\n  torch.cuda.profiler.stop()\n"),
      ElementsAre("ncu-start-in-loop"));
}

TEST(Script, CommandLines) {
  EXPECT_THAT(script_codes(kGood, "", {"ncu --profile-from-start off python ncu_run.py"}), IsEmpty());
  EXPECT_THAT(script_codes(kGood, "", {"ncu --csv python ncu_run.py"}), ElementsAre("ncu-from-start"));
  EXPECT_THAT(script_codes(kGood, "", {"ncu --profile-from-start=off --launch-count 1 python ncu_run.py"}),
              ElementsAre("ncu-launch-cut"));
  EXPECT_THAT(
      script_codes("\"\"\"Run it:\n  ncu --profile-from-start off -s 5 \\\n    python ncu_run.py\n\"\"\"\n" +
                   std::string(kGood)),
      ElementsAre("ncu-launch-cut"));
  EXPECT_THAT(script_codes("# ncu --profile-from-start off python ncu_run.py --launch-count 3\n" +
                           std::string(kGood)),
              IsEmpty());
}

TEST(Script, ShellWrappersAreRead) {
  const Card card;
  card.write("eval/ncu_run.py", kGood);
  card.write("eval/profile.sh", "#!/bin/sh\n/usr/local/cuda/bin/ncu -c 10 \\\n  python ncu_run.py\n");
  card.write("other.sh", "ncu -c 10 python something_else.py\n");
  EXPECT_THAT(script_codes(kGood, "", wrapper_commands(card.folder() + "/eval/ncu_run.py")),
              ElementsAre("ncu-launch-cut", "ncu-from-start"));
}

TEST(Script, PrepArguments) {
  const std::string bench =
      "def prep(x): return x\ndef make(n, seed): return n\nw(lambda seed: make(2048, seed))\n";
  const std::string head = "from bench import prep, make\nx = ";
  const std::string tail = without(kGood, "from bench import prep\nx = prep(1)\n");
  EXPECT_THAT(script_codes(head + "prep(make(2048, seed=1))\n" + tail, bench), IsEmpty());
  EXPECT_THAT(script_codes(head + "prep(make(128, seed=1))\n" + tail, bench),
              ElementsAre("ncu-prep-arguments"));
  EXPECT_THAT(script_codes(head + "prep(1, 2)\n" + tail, bench), ElementsAre("ncu-prep-arguments"));
  EXPECT_THAT(script_codes(head + "prep(5)\n" + tail, bench + "prep(4)\n"),
              ElementsAre("ncu-prep-arguments"));
}

}  // namespace
}  // namespace plumbline
