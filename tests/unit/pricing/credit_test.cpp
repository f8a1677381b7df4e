// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/credit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "samples.h"

namespace plumbline {
namespace {

using samples::contract_of;
using samples::kLayout;
using samples::table_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kLse =
    "[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\nstudent_kernel_regex = \"flash_fwd\"\n";

std::vector<std::string> codes(const Credit& credit) {
  std::vector<std::string> out;
  for (const CreditReason& reason : credit.why)
    out.push_back(reason.code + "/" + std::string(to_string(reason.side)));
  return out;
}

TEST(Credit, WorkedExample) {
  const auto contract = contract_of(kLayout);
  const auto reference = samples::reference_table();
  const auto candidate = samples::candidate_table();
  const auto credit = price_credit(contract, side_input(&candidate, 0.080), side_input(&reference, 0.110));
  ASSERT_TRUE(credit);
  EXPECT_TRUE(credit->usable());
  EXPECT_EQ(credit->reference.fraction, 0.20);
  EXPECT_EQ(credit->student.fraction, 0.0);
  EXPECT_THAT(credit->reference.matched, ElementsAre("transpose_copy"));
  EXPECT_THAT(credit->reference.matched_rows, ElementsAre(1));
  EXPECT_NEAR(*credit->reference.coverage, 0.909, 5e-4);
  EXPECT_FALSE(credit->student.coverage);  // the student pays nothing
  const auto times = credited_times(*credit, 0.080, 0.110);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->raw_ratio, 1.375, 1e-12);
  EXPECT_NEAR(times->credited_ref_ms, 0.088, 1e-12);
  EXPECT_NEAR(times->credited_ratio, 1.100, 1e-12);
}

TEST(Credit, NothingPriced) {
  const auto table = samples::candidate_table();
  const SideInput side = side_input(&table, 0.1);
  EXPECT_FALSE(price_credit(contract_of(""), side, side));
  EXPECT_FALSE(
      price_credit(contract_of("[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\n"), side, side));
  EXPECT_FALSE(price_credit(WindowContract{}, side, side));  // undeclared
}

TEST(Credit, UnpricedEntriesAreListed) {
  const auto table = table_of({{"flash_fwd", 10}, {"bwd", 30}});
  const auto credit = price_credit(
      contract_of(kLse + "[[asymmetry]]\nstudent_input = \"weight_layout\"\nclass = \"price\"\n"),
      side_input(&table, {}), {});
  ASSERT_TRUE(credit);
  EXPECT_THAT(credit->unpriced, ElementsAre("weight_layout"));
  EXPECT_EQ(credit->student.fraction, 0.25);
}

TEST(Credit, KernelOfTwoEntriesCountsOnceAndNamesAreSummed) {
  const auto contract = contract_of(
      kLse +
      "[[asymmetry]]\nstudent_output = \"y2\"\nclass = \"price\"\nstudent_kernel_regex = 'fwd|cumsum'\n");
  const auto table = table_of({{"flash_fwd", 100}, {"bwd", 600}, {"cumsum", 200}, {"flash_fwd", 100}});
  const auto credit = price_credit(contract, side_input(&table, {}), {});
  ASSERT_TRUE(credit);
  EXPECT_EQ(credit->student.matched_ns, 400);
  EXPECT_EQ(credit->student.total_ns, 1000);
  EXPECT_THAT(credit->student.matched, ElementsAre("cumsum", "flash_fwd"));
  EXPECT_THAT(credit->student.matched_rows, ElementsAre(0, 2, 3));
  EXPECT_THAT(entries_by_row(match_entries(contract, &table, nullptr), Payer::student, table.kernels.size()),
              ElementsAre("lse, y2", "", "y2", "lse, y2"));
}

TEST(Credit, ReasonsInOrder) {
  const auto contract = contract_of(kLse + kLayout);
  const auto fused = table_of({{"fused", 100'000}});
  const auto credit = price_credit(contract, side_input(&fused, 1.0), side_input(nullptr, 1.0));
  ASSERT_TRUE(credit);
  EXPECT_THAT(codes(*credit),
              ElementsAre("regex-unmatched/student", "no-table/reference", "unreconciled/student"));
  EXPECT_THAT(credit->why[0].names, ElementsAre("lse"));
  EXPECT_FALSE(credited_times(*credit, 1.0, 1.0));
  EXPECT_THAT(to_json(*credit)["why"][0].dump(),
              R"({"code":"regex-unmatched","names":["lse"],"side":"student"})");
}

TEST(Credit, CoverageBandIncludesItsEnds) {
  const auto contract = contract_of(kLse);
  auto table = table_of({{"flash_fwd", 300'000}, {"bwd", 700'000}});
  for (const auto& [ns, usable] :
       {std::pair{800'000.0, true}, {799'999.0, false}, {1'200'000.0, true}, {1'200'001.0, false}}) {
    const auto credit = price_credit(contract, {&table, ns, 1.0}, {});
    ASSERT_TRUE(credit);
    EXPECT_EQ(credit->usable(), usable) << ns;
  }
}

TEST(Credit, TableThatCannotBearACredit) {
  const auto contract = contract_of(kLse);
  auto lossy = table_of({{"flash_fwd", 10}, {"bwd", 30}});
  lossy.lossy = true;
  EXPECT_THAT(codes(*price_credit(contract, side_input(&lossy, {}), {})), ElementsAre("table-lossy/student"));

  auto tuned = table_of({{"flash_fwd", 10}, {"bwd", 30}}, 5);
  tuned.kernels[1].launches = 128;
  const auto credit = price_credit(contract, side_input(&tuned, {}), {});
  EXPECT_THAT(codes(*credit), ElementsAre("launches-uneven/student"));
  EXPECT_THAT(credit->why[0].names, ElementsAre("bwd"));

  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    auto table = table_of({{"flash_fwd", 10}, {"bwd", 30}});
    table.kernels[1].time_ns = bad;
    const auto broken = price_credit(contract, side_input(&table, {}), {});
    EXPECT_THAT(codes(*broken), ElementsAre("table-times/student")) << bad;
    EXPECT_FALSE(credited_times(*broken, 1, 1));
  }
}

TEST(Credit, NamesThatTheProfilerCutAreNeverPriced) {
  auto table = table_of({{"flash_fwd_kernel", 10}, {"void flash_fwd_spl...", 30}});
  table.kernels[1].truncated = true;
  const auto credit = price_credit(contract_of(kLse), side_input(&table, {}), {});
  ASSERT_TRUE(credit);
  EXPECT_THAT(codes(*credit), ElementsAre("name-truncated/student"));
  EXPECT_THAT(credit->student.matched, ElementsAre("flash_fwd_kernel"));
  EXPECT_EQ(credit->student.fraction, 0.25);
}

TEST(Credit, NoRowsIsNoTable) {
  const KernelTable empty;
  EXPECT_THAT(codes(*price_credit(contract_of(kLse), side_input(&empty, 1.0), {})),
              ElementsAre("no-table/student"));
}

TEST(Credit, LongNamesAndHostilePatterns) {
  const auto contract = contract_of(
      "[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\nstudent_kernel_regex = '^(a+)+$'\n");
  const auto table = table_of({{std::string(10'000, 'a') + "!", 10}, {"aa", 30}});
  const auto credit = price_credit(contract, side_input(&table, {}), {});
  ASSERT_TRUE(credit);
  EXPECT_THAT(codes(*credit), ElementsAre("regex-limit/student"));
  EXPECT_THAT(credit->student.matched, ElementsAre("aa"));
}

TEST(Credit, NothingLeftOfAWindow) {
  const auto table = table_of({{"flash_fwd", 1'000'000}});
  const auto credit = price_credit(contract_of(kLse), side_input(&table, 1.0), {});
  ASSERT_TRUE(credit && credit->usable());
  EXPECT_EQ(credit->student.fraction, 1.0);
  EXPECT_FALSE(credited_times(*credit, 1.0, 2.0));
  EXPECT_FALSE(credited_times(*credit, 0.0, 2.0));
  EXPECT_FALSE(credited_times(*credit, std::nullopt, 2.0));
}

std::vector<std::string> warning_codes(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(d.code);
  return out;
}

TEST(CreditWarnings, RegexInsideArguments) {
  const auto contract = contract_of(
      "[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\nstudent_kernel_regex = 'transpose_copy'\n");
  const auto decoy = table_of({{"void combine<4, transpose_copy_layout>(float*)", 10}, {"bwd", 30}});
  const Diagnostics warnings =
      credit_warnings(contract, match_entries(contract, &decoy, nullptr), &decoy, nullptr);
  ASSERT_THAT(warning_codes(warnings), ElementsAre("regex-in-arguments"));
  EXPECT_GT(warnings[0].line, 0);
  EXPECT_EQ(warnings[0].severity, Severity::warning);
  const auto real = table_of({{"void transpose_copy<4, transpose_copy_layout>(float*)", 10}, {"bwd", 30}});
  EXPECT_THAT(credit_warnings(contract, match_entries(contract, &real, nullptr), &real, nullptr), IsEmpty());
}

TEST(CreditWarnings, RegexOnTheOtherSide) {
  const auto contract = contract_of(kLse);
  const auto student = table_of({{"flash_fwd", 10}, {"bwd", 30}});
  const auto reference = table_of({{"bwd", 30}, {"flash_fwd", 10}});
  EXPECT_THAT(warning_codes(credit_warnings(contract, match_entries(contract, &student, &reference), &student,
                                            &reference)),
              ElementsAre("regex-other-side"));
  const auto clean = table_of({{"bwd", 30}});
  EXPECT_THAT(credit_warnings(contract, match_entries(contract, &student, &clean), &student, &clean),
              IsEmpty());
}

}  // namespace
}  // namespace plumbline
