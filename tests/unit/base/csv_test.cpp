// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CsvLine, PlainCellsKeepTheirBlanksAndPlaces) {
  CsvLine line;
  ASSERT_TRUE(line.read("m, n,,k"));
  EXPECT_THAT(line.cells, ElementsAre("m", " n", "", "k"));
  EXPECT_THAT(line.offsets, ElementsAre(0U, 2U, 5U, 6U));
  ASSERT_TRUE(line.read("a,b,"));
  EXPECT_THAT(line.cells, ElementsAre("a", "b", ""));
  ASSERT_TRUE(line.read(""));
  EXPECT_THAT(line.cells, ElementsAre(""));
}

TEST(CsvLine, QuotedCellsHoldCommasAndQuotes) {
  CsvLine line;
  ASSERT_TRUE(line.read(R"("gemm<a, b>",7,"say ""no""","",8)"));
  EXPECT_THAT(line.cells, ElementsAre("gemm<a, b>", "7", R"(say "no")", "", "8"));
  EXPECT_EQ(line.offsets.at(1), 13U);
  ASSERT_TRUE(line.read(R"(5" disk,x)"));  // a quote inside a cell is a character
  EXPECT_THAT(line.cells, ElementsAre(R"(5" disk)", "x"));
}

TEST(CsvLine, AQuoteThatDoesNotCloseGivesNoCells) {
  CsvLine line;
  for (const char* text : {R"(a,"b)", R"("a"b,c)", R"(")", R"(a,"b"")"}) {
    EXPECT_FALSE(line.read(text)) << text;
    EXPECT_THAT(line.cells, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace plumbline
