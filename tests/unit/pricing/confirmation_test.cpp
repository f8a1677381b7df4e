// SPDX-License-Identifier: Apache-2.0
#include "plumbline/evidence/confirmation.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "plumbline/profile/import.h"
#include "plumbline/report/confirm_view.h"
#include "samples.h"

namespace plumbline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> codes(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(d.code);
  return out;
}

ConfirmInputs worked() {
  ConfirmInputs in;
  in.contract = samples::contract_of(samples::kLayout);
  in.eval = samples::readings();
  in.eval.prep = std::make_shared<const OrderedJson>(OrderedJson{{"ms", 0.6}});
  in.eval.prep_ms = 0.6;
  in.student_table = samples::candidate_table();
  in.ref_table = samples::reference_table();
  in.student_table_file = "student.table.json";
  in.ref_table_file = "ref.table.json";
  return in;
}

TEST(Confirm, WorkedExample) {
  const Confirmation c = confirm(worked());
  EXPECT_EQ(c.raw_ratio, 1.375);
  EXPECT_TRUE(c.passed);
  ASSERT_TRUE(c.credited && c.credited_interval && c.break_even);
  EXPECT_NEAR(c.credited->credited_ratio, 1.1, 1e-12);
  EXPECT_NEAR(*c.break_even->calls, 20, 1e-9);
  EXPECT_THAT(codes(c.failures), IsEmpty());
  EXPECT_THAT(codes(c.doubts), ElementsAre("eval-workloads-unlisted"));
  ASSERT_EQ(c.sources.size(), 4U);
  EXPECT_EQ(c.sources[2].file, "ref.table.json");
}

TEST(Confirm, TheCreditNeverMovesTheGate) {
  ConfirmInputs in = worked();
  in.gate = 1.2;  // above the credited ratio, under the raw one
  EXPECT_TRUE(confirm(in).passed);
  in.gate = 1.375;
  EXPECT_TRUE(confirm(in).passed);
  in.gate = 1.3751;
  EXPECT_FALSE(confirm(in).passed);
  in = worked();
  in.ref_table.reset();  // the credit is lost, the verdict stays
  const Confirmation c = confirm(in);
  EXPECT_TRUE(c.passed);
  EXPECT_FALSE(c.credited);
  EXPECT_THAT(codes(c.doubts), Contains("no-table"));
}

TEST(Confirm, AReportThatDoesNotHoldDoesNotPass) {
  ConfirmInputs in = worked();
  in.eval.n_workloads = 1;
  Confirmation c = confirm(in);
  EXPECT_FALSE(c.passed);
  EXPECT_THAT(codes(c.failures), ElementsAre("eval-workloads-too-few"));
  in.leaderboard = true;
  EXPECT_TRUE(confirm(in).passed);
}

TEST(Confirm, PrepReportIsHeld) {
  ConfirmInputs in = worked();
  in.contract = samples::contract_of(
      "[[asymmetry]]\nref_input = \"lse\"\nclass = \"symmetrize\"\nproduced_by = \"forward\"\nshape = "
      "[2]\ndtype = \"fp32\"\n");
  const Confirmation c = confirm(in);
  EXPECT_FALSE(c.passed);
  EXPECT_THAT(codes(c.failures), Not(IsEmpty()));
  EXPECT_FALSE(c.credit);
}

TEST(Confirm, TablesWithoutCallsAreDoubted) {
  ConfirmInputs in = worked();
  in.ref_table->calls.reset();
  in.ref_table->time_ns_per_call.reset();
  const Confirmation c = confirm(in);
  EXPECT_TRUE(c.credited);
  EXPECT_FALSE(c.credited_interval->gaps_known);
  EXPECT_THAT(codes(c.doubts), Contains("calls-unknown"));
}

TEST(Confirm, OverlappingKernelsAreDoubted) {
  ConfirmInputs in = worked();
  in.ref_table->overlap_ns = 20'000;
  EXPECT_THAT(codes(confirm(in).doubts), Contains("kernels-overlap"));
  in.ref_table->overlap_ns = 100;
  EXPECT_THAT(codes(confirm(in).doubts), Not(Contains("kernels-overlap")));
  in.student_table->overlap_ns = 20'000;  // nothing of it is priced
  EXPECT_THAT(codes(confirm(in).doubts), Not(Contains("kernels-overlap")));
}

TEST(Confirm, OtherDevicesAreDoubted) {
  ConfirmInputs in = worked();
  in.eval.device = "NVIDIA H200";
  in.student_table->device = "NVIDIA H200";
  in.ref_table->device = "NVIDIA A100";
  EXPECT_THAT(codes(confirm(in).doubts), Contains("device-differs"));
}

/// The recorded comparison with the student's kernels from `file`.
ConfirmInputs recorded(const std::string& file) {
  const std::string root = PLUMBLINE_SOURCE_DIR;
  const std::string card = root + "/operators/attention_backward";
  const std::string data = root + "/tests/data/h200_attention_backward/";
  ConfirmInputs in;
  in.contract = std::move(*load_contract(card + "/window.toml").value);
  in.eval = std::move(*load_eval(card + "/runs/h200_price/eval.json").value);
  in.student_table = std::move(*import_profile(data + file).value);
  in.ref_table = std::move(*import_profile(data + "ref.ncu.csv").value);
  return in;
}

/// One capture, printed in nanoseconds and in automatic units with five digits.
TEST(Confirm, MicrosecondsOrNanosecondsGiveTheSameVerdict) {
  const Confirmation ns = confirm(recorded("stu.rawbase.csv"));
  const Confirmation us = confirm(recorded("stu.details.csv"));
  ASSERT_TRUE(ns.credited && us.credited);
  EXPECT_EQ(ns.passed, us.passed);
  EXPECT_EQ(codes(ns.doubts), codes(us.doubts));
  EXPECT_NEAR(ns.credited->credited_ratio, us.credited->credited_ratio, 5e-5);
  EXPECT_NEAR(*ns.credit->student.coverage, *us.credit->student.coverage, 5e-5);
}

TEST(Confirm, RecordedComparison) {
  const Confirmation c = confirm(recorded("stu.ncu.csv"));
  EXPECT_FALSE(c.passed);
  EXPECT_NEAR(*c.raw_ratio, 0.738, 5e-4);
  ASSERT_TRUE(c.credited);
  EXPECT_GT(c.credited->credited_ratio, 0.99);
  EXPECT_LT(c.credited->credited_ratio, 1.005);
  EXPECT_THAT(codes(c.doubts), ElementsAre("eval-warm"));  // its pipelined windows were hot, and it says so
}

TEST(ConfirmView, OneViewFeedsEveryRenderer) {
  const ConfirmView view = collect_confirm(confirm(worked()), "demo", "r1");
  const std::string text = confirm_text(view, {false, 100});
  for (const char* part : {"1.375", "1.100 to 1.125", "transpose_copy", "pays for weight_layout",
                           "20.0 calls", "75.0 calls", "Less favourable end 1.100", "student.table.json"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(confirm_text(view, {true, 100}), HasSubstr("\x1b[1m"));
  EXPECT_THAT(confirm_markdown(view), HasSubstr("**raw ratio 1.375**"));
  const Json json = confirm_json(view);
  EXPECT_EQ(json["raw_ratio"], 1.375);
  EXPECT_EQ(json["credit"]["reference"]["fraction"], 0.2);
  EXPECT_EQ(json["credited"]["credited_ratio"].get<double>(), view.credited->credited_ratio);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["gate"], 1.0);
}

TEST(ConfirmView, ARatioJustUnderTheGateIsNotShownAsTheGate) {
  ConfirmInputs in = worked();
  in.eval.ratio = 0.99986;
  const std::string text = confirm_text(collect_confirm(confirm(in), "demo", ""), {false, 100});
  EXPECT_THAT(text, HasSubstr("0.99986"));
  EXPECT_THAT(text, HasSubstr("gate, 1.00000: not passed"));
}

TEST(ConfirmView, ManyLongNamesStayBounded) {
  ConfirmInputs in = worked();
  std::vector<std::pair<std::string, double>> rows;
  for (int i = 0; i < 200; ++i) rows.emplace_back(std::string(10'000, 'k') + std::to_string(i), 1000.0 - i);
  rows.emplace_back("transpose_copy", 1.0);
  in.ref_table = samples::table_of(rows);
  const ConfirmView view = collect_confirm(confirm(in), "demo", "");
  const std::string text = confirm_text(view, {false, 100});
  EXPECT_THAT(text, HasSubstr("176 more kernels"));
  EXPECT_THAT(text, HasSubstr("transpose_copy"));
  EXPECT_LT(text.size(), 12'000U);
  EXPECT_LT(confirm_markdown(view).size(), 12'000U);
}

TEST(ConfirmView, NamesCannotDriveTheTerminal) {
  ConfirmInputs in = worked();
  in.student_table = samples::table_of({{"evil\x1b[2Jname", 70'000}});
  const ConfirmView view = collect_confirm(confirm(in), "de\x1bmo", "r\x07");
  EXPECT_THAT(confirm_text(view, {false, 100}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(confirm_markdown(view), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace plumbline
