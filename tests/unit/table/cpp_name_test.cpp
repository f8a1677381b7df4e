// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/cpp_name.h"

#include <gmock/gmock.h>

#include <string>

namespace plumbline {
namespace {

/// The name with every argument range replaced by "~".
std::string bare(std::string_view name) {
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, end] : argument_ranges(name)) {
    out.append(name.substr(at, begin - at)).append("~");
    at = end;
  }
  return out.append(name.substr(at));
}

TEST(ArgumentRanges, TemplateArgumentsAndParameters) {
  EXPECT_EQ(bare("void flash_fwd_kernel<Traits<128, 64>, false>(Flash_fwd_params)"),
            "void flash_fwd_kernel~~");
  EXPECT_EQ(bare("at::native::(anonymous namespace)::cat<int, (Kind)3>(char*)"),
            "at::native::(anonymous namespace)::cat~~");
  EXPECT_EQ(bare("sort<int>::operator()(int) const"), "sort~::operator()~ const");
  EXPECT_EQ(bare("less::operator<(int)"), "less::operator<~");
  EXPECT_EQ(bare("Memset (Device)"), "Memset (Device)");
  EXPECT_EQ(bare("[CUDA memcpy Device-to-Device]"), "[CUDA memcpy Device-to-Device]");
  EXPECT_EQ(bare("f<(1->x), g>"), "f~");
  EXPECT_EQ(bare("cut_off<int, float"), "cut_off~");
  EXPECT_EQ(bare("stray>)::f(int)"), "stray>)::f~");
  EXPECT_EQ(bare("_Z14transpose_copyPKfPf"), "_Z14transpose_copyPKfPf");
  EXPECT_EQ(bare(""), "");
}

TEST(OnlyInside, EveryMatchAndAtLeastOne) {
  const std::vector<ByteRange> ranges = {{3, 8}};
  const auto inside = [&](std::vector<ByteRange> matches) { return only_inside(matches, ranges); };
  EXPECT_TRUE(inside({{3, 8}}));
  EXPECT_TRUE(inside({{4, 5}, {6, 8}}));
  EXPECT_FALSE(inside({{4, 5}, {0, 2}}));
  EXPECT_FALSE(inside({{2, 5}}));
  EXPECT_FALSE(inside({}));
}

}  // namespace
}  // namespace plumbline
