// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/numbers.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "plumbline/base/statistics.h"

namespace plumbline {
namespace {

TEST(FormatDouble, LaysNumbersOutAsPythonDoes) {
  const std::pair<double, const char*> rows[] = {
      {0.0, "0.0"},        {-0.0, "-0.0"},
      {3.0, "3.0"},        {100.0, "100.0"},
      {0.1, "0.1"},        {1e-4, "0.0001"},
      {1e-5, "1e-05"},     {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},     {123456789012345680.0, "1.2345678901234568e+17"},
      {1.5e-7, "1.5e-07"}, {186116659362100.88, "186116659362100.88"},
      {5e-324, "5e-324"},  {1.7976931348623157e308, "1.7976931348623157e+308"},
      {-2.5, "-2.5"},      {1e100, "1e+100"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(format_double(value), text);
}

TEST(FormatDouble, ReadsBackForRandomBits) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t bits = counter_random(7, i);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(parse_double(format_double(value)), value);
  }
}

TEST(ParseDouble, RefusesWhatIsNotOneWholeNumber) {
  for (const char* text : {"", " 1", "1 ", "1,5", "0x10", "nan", "inf", "1e999", "1.2.3", "+1"}) {
    EXPECT_FALSE(parse_double(text)) << text;
  }
  EXPECT_EQ(parse_double("4.0e-05"), 4.0e-05);
}

TEST(RoundPlaces, RoundsTheExactBinaryValueHalfToEven) {
  EXPECT_EQ(round_places(0.5, 0), 0.0);
  EXPECT_EQ(round_places(1.5, 0), 2.0);
  EXPECT_EQ(round_places(0.0625, 3), 0.062);
  EXPECT_EQ(round_places(2.675, 2), 2.67);
}

TEST(Format, GroupsAndFixes) {
  EXPECT_EQ(format_grouped(1262000), "1,262,000");
  EXPECT_EQ(format_grouped(-999), "-999");
  EXPECT_EQ(format_grouped(0), "0");
  EXPECT_EQ(format_fixed(0.73788, 3), "0.738");
}

TEST(Locale, ADecimalCommaChangesNothing) {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "no de_DE.UTF-8 locale here";
  EXPECT_EQ(format_double(1.5), "1.5");
  EXPECT_EQ(parse_double("1.5"), 1.5);
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace plumbline
