// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/cliffs.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/predict.h"

namespace plumbline {
namespace {

std::shared_ptr<const KernelSource> source(const std::string& name) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  return choose_predictor(*load_hardware(name, folder).value, LatencyModel::measured).value.value().source;
}

const DimensionCliffs& dimension(const std::vector<DimensionCliffs>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(), [&](const DimensionCliffs& d) { return d.dimension == name; });
}

Layer llama3_8b() {
  Layer layer;
  layer.hidden_dim = 4096;
  layer.num_heads = 32;
  layer.num_kv_heads = 8;
  layer.head_dim = 128;
  layer.ffn_dim = 14336;
  return layer;
}

TEST(Cliffs, SixteenByteAlignmentOnAnH200) {
  // measured: n = 4000 takes 0.091 ms, n = 4001 0.664 ms
  const auto all = gemm_cliffs(*source("h200"), {2048, 4001, 4096});
  const DimensionCliffs& n = dimension(all, "n");
  EXPECT_EQ(n.reason.cause, CliffCause::alignment);
  EXPECT_EQ(n.better, 4000);
  EXPECT_GT(n.ms / n.better_ms, 5);
  EXPECT_LT(n.ms / n.better_ms, 10);
  ASSERT_TRUE(n.measured_ms.has_value());
  EXPECT_NEAR(*n.measured_ms, 0.664, 0.01);
  EXPECT_NE(n.ms, *n.measured_ms);  // beside the prediction, never in its place
  for (const Neighbour& each : n.neighbours) {
    if (each.value % 8 == 0) continue;
    EXPECT_EQ(each.reason.cause, CliffCause::alignment) << each.value;
  }
}

TEST(Cliffs, VocabulariesAndHeadsArePaddedNotCut) {
  for (const std::string name : {"h200", "h100", "a100", "t4"}) {
    const auto kernels = source(name);
    for (const std::int64_t vocabulary : {50257, 32001, 151643, 128257}) {
      const DimensionCliffs d = vocabulary_cliffs(*kernels, 2048, 4096, vocabulary);
      EXPECT_EQ(d.reason.cause, CliffCause::alignment) << name << " " << vocabulary;
      EXPECT_GT(d.better, vocabulary);
      EXPECT_EQ(d.better % 8, 0);
    }
    Layer odd = llama3_8b();
    odd.head_dim = 100;
    const auto all = layer_cliffs(*kernels, odd);
    const DimensionCliffs& head = dimension(all, "head_dim");
    EXPECT_EQ(head.reason.cause, CliffCause::head_width) << name;
    EXPECT_GE(head.better, 100);
  }
  EXPECT_EQ(vocabulary_cliffs(*source("h200"), 2048, 4096, 50257).better, 50304);
}

TEST(Cliffs, AnAlignedShapeIsNotCalledMisaligned) {
  for (const DimensionCliffs& d : layer_cliffs(*source("h200"), llama3_8b())) {
    EXPECT_NE(d.reason.cause, CliffCause::alignment) << d.dimension;
    EXPECT_NE(d.reason.cause, CliffCause::head_width) << d.dimension;
    EXPECT_LT(d.saving_pct, 10) << d.dimension;
    EXPECT_TRUE(std::is_sorted(d.neighbours.begin(), d.neighbours.end(),
                               [](const Neighbour& a, const Neighbour& b) { return a.value < b.value; }));
  }
}

TEST(Cliffs, NeighboursAreTheScannedSteps) {
  const auto all = gemm_cliffs(*source("t4"), {2048, 4096, 4096});
  std::vector<std::int64_t> away;
  for (const Neighbour& each : dimension(all, "n").neighbours) away.push_back(each.value - 4096);
  EXPECT_THAT(away, testing::IsSupersetOf({-128, -64, -8, -1, 1, 8, 64, 128}));
  const auto small = gemm_cliffs(*source("t4"), {1, 2, 3});  // sizes stay positive
  for (const DimensionCliffs& d : small) {
    for (const Neighbour& each : d.neighbours) EXPECT_GE(each.value, 1);
  }
}

TEST(Cliffs, RecordedKernelsOfOtherTilesAreATileSwitch) {
  KernelSource kernels = *source("h200");
  kernels.kernels = {};
  GemmShape slow, fair;
  std::string name;
  CliffCause without = CliffCause::none;  // the cause while no name is recorded
  for (const GemmShape shape : {GemmShape{2048, 3072, 3072},
                                {2048, 8192, 28672},
                                {2048, 1544, 2048},
                                {2048, 57344, 8192},
                                {2048, 3584, 3584},
                                {2048, 1544, 6144}}) {
    for (const DimensionCliffs& d : gemm_cliffs(kernels, shape)) {
      if (d.reason.cause == CliffCause::none || d.reason.cause == CliffCause::alignment) continue;
      without = d.reason.cause;
      name = d.dimension;
      slow = fair = shape;
      (name == "m" ? fair.m : name == "n" ? fair.n : fair.k) = d.reason.beside;
    }
  }
  ASSERT_NE(without, CliffCause::none);
  EXPECT_NE(without, CliffCause::tile_switch);
  const auto reason = [&](const std::string& a, const std::string& b) {
    kernels.kernels = make_kernel_names({{shape_key(slow), a}, {shape_key(fair), b}});
    return dimension(gemm_cliffs(kernels, slow), name).reason;
  };
  const CliffReason other = reason("nvjet_64x128_64x4", "nvjet_128x64_64x4");
  EXPECT_EQ(other.cause, CliffCause::tile_switch);
  EXPECT_EQ(other.kernel, "nvjet_64x128_64x4");
  EXPECT_EQ(other.beside_kernel, "nvjet_128x64_64x4");
  EXPECT_EQ(reason("nvjet_64x128_64x4", "nvjet_64x128_64x8").cause, without);  // the same tile
}

TEST(Cliffs, TheShippedNamesBelongToTheirShapes) {
  const auto all = gemm_cliffs(*source("h200"), {2048, 3072, 3072});
  EXPECT_EQ(dimension(all, "m").kernel, "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT");
  EXPECT_TRUE(dimension(gemm_cliffs(*source("a100"), {2048, 3072, 3072}), "m").kernel.empty());
}

TEST(Cliffs, NothingIsBetterWithoutAReason) {
  Layer odd = llama3_8b();
  odd.ffn_dim = 14335;  // every time is that of the misaligned GEMMs
  const auto all = layer_cliffs(*source("h200"), odd);
  for (const DimensionCliffs& d : all) {
    EXPECT_TRUE(d.better == d.value || d.reason.cause != CliffCause::none) << d.dimension;
  }
  EXPECT_EQ(dimension(all, "hidden_dim").better, 4096);
  EXPECT_EQ(dimension(all, "ffn_dim").better, 14336);
}

TEST(Cliffs, ExpertsHaveTheirOwnWidthAndLatentAttentionItsSizes) {
  const auto source =
      specification_source({"GPU", "sheet", 132, 4800, 989, 50'000'000, 141'000'000'000, 1979, 0, 450});
  Layer layer{"", 4096, 32, 8, 128, 0, 2048, 1};
  layer.experts = 8;
  layer.topk = 2;
  layer.moe_ffn_dim = 14336;
  layer.tp = 2;
  settle(layer);
  const auto dimensions = [&] {
    std::vector<std::string> names;
    for (const DimensionCliffs& each : layer_cliffs(*source, layer)) names.push_back(each.dimension);
    return names;
  };
  EXPECT_EQ(dimensions(), (std::vector<std::string>{"hidden_dim", "moe_ffn_dim", "head_dim", "seq_len"}));
  for (const DimensionCliffs& each : layer_cliffs(*source, layer)) {
    if (each.dimension != "moe_ffn_dim") continue;
    for (const Neighbour& n : each.neighbours) EXPECT_EQ(n.value % 2, 0) << "two GPUs share an expert";
  }
  layer.kv_lora_rank = 512;
  settle(layer);
  EXPECT_EQ(dimensions(), (std::vector<std::string>{"moe_ffn_dim", "seq_len"}));
}

TEST(Cliffs, DecodeScansTheBatch) {
  Layer layer = llama3_8b();
  layer.phase = Phase::decode;
  layer.batch_size = 16;
  const auto all = layer_cliffs(*source("h200"), layer);
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(dimension(all, "batch_size").value, 16);
}

}  // namespace
}  // namespace plumbline
