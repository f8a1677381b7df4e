// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/kernel_names.h"

#include <gmock/gmock.h>

#include <random>

namespace plumbline {
namespace {

using Recorded = std::vector<std::pair<std::uint64_t, std::string>>;

TEST(KernelNames, TilesAreReadFromEveryLibrarysNames) {
  EXPECT_EQ(tile_of("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"), "256x128");
  EXPECT_EQ(tile_of("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN"), "128x256");
  EXPECT_EQ(tile_of("cutlass_80_tensorop_bf16_s16816gemm_bf16_256x64_64x3_tn_align2"), "256x64");
  EXPECT_EQ(tile_of("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align2"), "16x16");
  EXPECT_EQ(tile_of("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x32_stage4_warpsize2x2x1"),
            "128x64");
  EXPECT_EQ(tile_of("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT+cublasLt::splitKreduce_kernel"),
            "64x8 split-K");
  EXPECT_EQ(tile_of("gemv2T_kernel_val"), "gemv2T_kernel_val");
  EXPECT_EQ(tile_of("gemv2T_kernel_val<int, 128>"), "gemv2T_kernel_val");
  EXPECT_EQ(tile_of("kernel_12x"), "kernel_12x");
  EXPECT_EQ(tile_of("kernel_123456x8_y"), "kernel_123456x8_y");
  EXPECT_EQ(tile_of(""), "");
}

TEST(KernelNames, OnlyAnotherTileIsASwitch) {
  EXPECT_TRUE(other_tile("nvjet_a_64x8_64x16_x", "nvjet_a_128x8_64x16_x"));
  EXPECT_FALSE(other_tile("nvjet_a_64x8_64x16_1x2_x", "nvjet_a_64x8_64x8_2x1_x"));
  EXPECT_TRUE(other_tile("nvjet_a_64x8_64x16_x", "nvjet_a_64x8_64x16_splitK_x"));
  EXPECT_TRUE(other_tile("gemv", "nvjet_a_64x8_64x16_x"));  // a name without a tile counts as a whole
  EXPECT_FALSE(other_tile("gemv", "gemv"));
}

TEST(KernelNames, EveryShapeFindsItsNameAndTheLastOneStands) {
  const KernelNames names = make_kernel_names({{7, "b"}, {3, "a"}, {7, "c"}, {~0ULL, "a"}});
  EXPECT_THAT(names.names, testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(names.shapes.size(), 3u);
  EXPECT_EQ(find_kernel(names, 3), "a");
  EXPECT_EQ(find_kernel(names, 7), "c");
  EXPECT_EQ(find_kernel(names, ~0ULL), "a");
  EXPECT_EQ(find_kernel(names, 4), "");
  EXPECT_EQ(find_kernel({}, 3), "");
}

TEST(KernelNames, NamesArePrintableAndNotEndless) {
  EXPECT_TRUE(is_kernel_name("void f<int>(float const*)"));
  EXPECT_FALSE(is_kernel_name(""));
  EXPECT_FALSE(is_kernel_name("a\tb"));
  EXPECT_FALSE(is_kernel_name("n\xC3\xA4me"));
  EXPECT_TRUE(is_kernel_name(std::string(kMaxKernelName, 'x')));
  EXPECT_FALSE(is_kernel_name(std::string(kMaxKernelName + 1, 'x')));
}

std::string sample(std::mt19937_64& random) {
  Recorded recorded;
  for (int i = 0; i < 40; ++i) recorded.emplace_back(random(), "kernel" + std::to_string(random() % 9));
  std::string bytes;
  append_kernel_names(make_kernel_names(recorded), bytes);
  return bytes;
}

TEST(KernelNames, BytesReadBack) {
  for (const Recorded& recorded : {Recorded{}, Recorded{{9, "x"}, {2, "y"}, {5, "x"}}}) {
    const KernelNames names = make_kernel_names(recorded);
    std::string bytes;
    append_kernel_names(names, bytes);
    std::string_view rest = bytes;
    KernelNames back;
    ASSERT_TRUE(take_kernel_names(rest, back));
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(back.names, names.names);
    for (const auto& [key, name] : recorded) EXPECT_EQ(find_kernel(back, key), name);
  }
}

TEST(KernelNames, CutBytesAreRefused) {
  std::mt19937_64 random(5);
  const std::string bytes = sample(random);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    KernelNames back;
    EXPECT_FALSE(take_kernel_names(rest, back)) << size;
  }
}

TEST(KernelNames, DamagedBytesAreRefusedOrHarmless) {
  std::mt19937_64 random(6);
  const std::string bytes = sample(random);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << (random() % 8));
    std::string_view rest = damaged;
    KernelNames back;
    if (!take_kernel_names(rest, back)) {
      ++refused;
      continue;
    }
    for (const NamedShape& shape : back.shapes) EXPECT_FALSE(find_kernel(back, shape.key).empty());
  }
  EXPECT_GT(refused, 100);
}

TEST(KernelNames, ImpossibleCountsTakeNoMemory) {
  const std::string bytes(12, '\xFF');  // four thousand million names, bytes and shapes
  std::string_view rest = bytes;
  KernelNames back;
  EXPECT_FALSE(take_kernel_names(rest, back));
}

}  // namespace
}  // namespace plumbline
