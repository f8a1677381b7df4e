// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/interval.h"

#include <gtest/gtest.h>

#include "samples.h"

namespace plumbline {
namespace {

struct Worked {
  WindowContract contract = samples::contract_of(samples::kLayout);
  KernelTable reference_table = samples::reference_table();
  KernelTable candidate_table = samples::candidate_table();
  SideInput student = side_input(&candidate_table, 0.080);
  SideInput reference = side_input(&reference_table, 0.110);
  Credit credit = *price_credit(contract, student, reference);
};

TEST(CreditInterval, WorkedExampleGapsStayOrScale) {
  const Worked worked;
  const auto interval = credit_interval(worked.credit, worked.student, worked.reference, nullptr);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->interval.low, 1.100, 1e-12);
  EXPECT_NEAR(interval->interval.high, 1.125, 1e-12);
  EXPECT_EQ(interval->least.reference, Gaps::scale);
  EXPECT_EQ(interval->most.reference, Gaps::stay);
  EXPECT_TRUE(interval->gaps_known);
  EXPECT_FALSE(interval->from_samples);
}

TEST(CreditInterval, SamplesWidenBothEnds) {
  const Worked worked;
  WorkloadReading campaign;
  campaign.student.samples_ms = {0.079, 0.080, 0.081, 0.0795, 0.0805};
  campaign.ref.samples_ms = {0.108, 0.110, 0.112, 0.109, 0.111};
  const auto interval = credit_interval(worked.credit, worked.student, worked.reference, &campaign);
  ASSERT_TRUE(interval);
  EXPECT_TRUE(interval->from_samples);
  EXPECT_LT(interval->interval.low, 1.100);
  EXPECT_GT(interval->interval.high, 1.125);
  EXPECT_GT(interval->interval.low, 1.06);
  EXPECT_LT(interval->interval.high, 1.17);
}

TEST(CreditInterval, WithoutCallsTheGapsAreNotKnown) {
  Worked worked;
  worked.reference.ns_per_call.reset();
  const auto interval = credit_interval(worked.credit, worked.student, worked.reference, nullptr);
  ASSERT_TRUE(interval);
  EXPECT_FALSE(interval->gaps_known);
  // 20 % of a window of 110 µs, of which a table that belongs to it covers 0.8 to 1.2: 17.6 to 26.4 µs.
  EXPECT_NEAR(interval->interval.low, (110 - 26.4) / 80, 1e-9);
  EXPECT_NEAR(interval->interval.high, (110 - 17.6) / 80, 1e-9);
}

TEST(CreditInterval, NoneWithoutACredit) {
  Worked worked;
  worked.credit.why.push_back({"no-table", Payer::reference, {}, ""});
  EXPECT_FALSE(credit_interval(worked.credit, worked.student, worked.reference, nullptr));
}

TEST(WindowShare, GapsAreWhatNoKernelExplains) {
  const Worked worked;
  const auto reference = window_share(worked.reference);
  const auto student = window_share(worked.student);
  ASSERT_TRUE(reference && student);
  EXPECT_NEAR(reference->coverage, 0.909, 5e-4);
  EXPECT_NEAR(student->coverage, 0.875, 5e-4);
  EXPECT_NEAR(reference->gaps_ms, 0.010, 1e-12);
  EXPECT_NEAR(reference->unaccounted, 1.0 / 11, 1e-12);
  KernelTable busier = samples::table_of({{"gemm", 84'000}});
  const auto over = window_share(side_input(&busier, 0.080));
  EXPECT_EQ(over->gaps_ms, 0);
  EXPECT_EQ(over->unaccounted, 0);
  EXPECT_FALSE(window_share(side_input(nullptr, 0.080)));
  EXPECT_FALSE(window_share(side_input(&busier, 0.0)));
}

TEST(BreakEven, WorkedExample) {
  const Worked worked;
  const auto credited = credited_times(worked.credit, 0.080, 0.110);
  const auto even = break_even(worked.contract, 0.600, 0.080, 0.110, credited);
  ASSERT_TRUE(even);
  EXPECT_EQ(even->side, Payer::student);
  EXPECT_NEAR(*even->calls, 20, 1e-9);
  EXPECT_NEAR(*even->calls_credited, 75, 1e-9);
  EXPECT_FALSE(even->also_shared);
}

TEST(BreakEven, NeverWithoutAGain) {
  const auto contract = samples::contract_of(samples::kLayout);
  const auto even = break_even(contract, 0.600, 0.110, 0.080, std::nullopt);
  ASSERT_TRUE(even);
  EXPECT_FALSE(even->calls);
  EXPECT_FALSE(even->calls_credited);
}

TEST(BreakEven, OnlyForAOneSidedPrep) {
  const std::string lse = "[[asymmetry]]\nref_input = \"lse\"\nclass = \"accept\"\nproduced_by = \"prep\"\n";
  EXPECT_EQ(one_sided_prep(samples::contract_of(lse)), Payer::reference);
  EXPECT_EQ(one_sided_prep(samples::contract_of(lse + samples::kLayout)), std::nullopt);
  EXPECT_EQ(one_sided_prep(samples::contract_of("")), std::nullopt);
  EXPECT_FALSE(break_even(samples::contract_of(""), 0.6, 0.08, 0.11, std::nullopt));
  EXPECT_FALSE(break_even(samples::contract_of(lse), std::nullopt, 0.08, 0.11, std::nullopt));
}

TEST(RawInterval, OfTheGeometricMean) {
  EvalReport eval;
  for (const double ref : {1.0, 2.0, 4.0}) {
    WorkloadReading& w = eval.workloads.emplace_back();
    w.student.samples_ms = {1, 1, 1};
    w.ref.samples_ms = {ref, ref, ref};
  }
  const auto interval = raw_interval(eval);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 2, 1e-12);
  EXPECT_NEAR(interval->high, 2, 1e-12);
  eval.workloads[1].ref.samples_ms.clear();
  EXPECT_FALSE(raw_interval(eval));
}

}  // namespace
}  // namespace plumbline
