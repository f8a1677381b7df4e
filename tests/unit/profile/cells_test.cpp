// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/cells.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plumbline::profile {
namespace {

TEST(NumberCell, TellsWhatItsSeparatorsProve) {
  struct Case {
    const char* text;
    Separators separators;
    double if_dot;
    double if_comma;
  };
  const double nan = NAN;
  const Case cases[] = {
      {"406240", Separators::none, 406240, 406240},
      {"1,234,567", Separators::dot_decimal, 1234567, nan},
      {"1,234.56", Separators::dot_decimal, 1234.56, nan},
      {"1.234,56", Separators::comma_decimal, nan, 1234.56},
      {"1.234.567", Separators::comma_decimal, nan, 1234567},
      {"65,77", Separators::comma_decimal, nan, 65.77},
      {"0,123", Separators::comma_decimal, nan, 0.123},
      {"1234,567", Separators::comma_decimal, nan, 1234.567},
      {"80.00", Separators::dot_decimal, 80, nan},
      {"4.0e-05", Separators::dot_decimal, 4e-5, nan},
      {"80,000", Separators::comma_three, 80000, 80},
      {"80.000", Separators::dot_three, 80, 80000},
      {"1 234,5", Separators::comma_decimal, nan, 1234.5},
      {"1\u202F234", Separators::none, 1234, 1234},
      {"1'234.50", Separators::dot_decimal, 1234.5, nan},
      {"-3", Separators::none, -3, -3},
  };
  for (const Case& c : cases) {
    const auto cell = read_number_cell(c.text);
    ASSERT_TRUE(cell) << c.text;
    EXPECT_EQ(cell->separators, c.separators) << c.text;
    if (!std::isnan(c.if_dot)) {
      EXPECT_DOUBLE_EQ(cell->if_dot, c.if_dot) << c.text;
    }
    if (!std::isnan(c.if_comma)) {
      EXPECT_DOUBLE_EQ(cell->if_comma, c.if_comma) << c.text;
    }
  }
  for (const char* text : {"", "n/a", "NVIDIA B200", "No-CC", "1,23,456", "1,234,56.7", "(128, 1, 1)", "nan",
                           "inf", "0x10", "1e5e5", "--1", "1 2"}) {
    EXPECT_FALSE(read_number_cell(text)) << text;
  }
}

TEST(NumberLocale, IsDecidedPerFileOrRefused) {
  using V = NumberLocale::Verdict;
  const auto verdict = [](std::initializer_list<const char*> cells, bool nanoseconds) {
    NumberLocale locale;
    for (const char* text : cells) {
      const auto cell = read_number_cell(text);
      locale.add(*cell, 1);
      if (nanoseconds) locale.add_whole_nanoseconds(*cell);
    }
    return locale.verdict();
  };
  EXPECT_EQ(verdict({"80,000", "20,000"}, true), V::dot);         // no profiler prints picoseconds
  EXPECT_EQ(verdict({"80,000", "20,000"}, false), V::undecided);  // microseconds: 80 or 80 000
  EXPECT_EQ(verdict({"80.000", "20.000"}, true), V::undecided);
  EXPECT_EQ(verdict({"80.000", "65,77"}, true), V::comma);
  EXPECT_EQ(verdict({"80,000", "65.77"}, false), V::dot);
  EXPECT_EQ(verdict({"65.77", "65,77"}, false), V::conflict);
  EXPECT_EQ(verdict({"80000", "20000"}, false), V::dot);
}

// A fuzzer's finding: a row of a summary without the column that was to bear witness.
TEST(NumberLocale, AnAbsentFieldContradictsNothing) {
  NumberLocale locale;
  locale.add(*read_number_cell("1.5"), 3);
  locale.contradict({}, 4);
  EXPECT_EQ(locale.verdict(), NumberLocale::Verdict::dot);
}

TEST(Units, OldAndNewSpellingsAreTheSame) {
  const auto ps = [](double value, const char* unit) { return to_picoseconds(value, *read_unit(unit)); };
  EXPECT_EQ(ps(80000, "ns"), 80'000'000);
  EXPECT_EQ(ps(80000, "nsecond"), 80'000'000);
  EXPECT_EQ(ps(80, "usecond"), 80'000'000);
  EXPECT_EQ(ps(175.49, "us"), 175'490'000);
  EXPECT_EQ(ps(0.08, "ms"), 80'000'000);
  EXPECT_EQ(ps(0.08, "msecond"), 80'000'000);
  EXPECT_EQ(ps(0.00008, "s"), 80'000'000);
  EXPECT_EQ(ps(-1, "s"), std::nullopt);
  EXPECT_EQ(ps(1e30, "s"), std::nullopt);
  EXPECT_EQ(read_unit("Ghz")->scale, read_unit("cycle/nsecond")->scale);
  EXPECT_EQ(read_unit("Gbyte/second")->scale, 1e9);
  EXPECT_FALSE(read_unit("fortnight"));
  EXPECT_FALSE(read_unit(""));
}

}  // namespace
}  // namespace plumbline::profile
