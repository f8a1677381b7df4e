// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/operation.h"
#include "plumbline/model/predict.h"

namespace plumbline {
namespace {

DataSheet h200_sheet() {
  DataSheet sheet;
  sheet.sm_count = 132;
  sheet.hbm_bandwidth_gbps = 4800;
  sheet.bf16_tflops = 989.4;
  sheet.l2_bytes = 62914560;
  return sheet;
}

double pairs_counted(const AttentionShape& s) {
  double pairs = 0;
  for (std::int64_t i = 0; i < s.q_len; ++i) {
    for (std::int64_t j = 0; j < s.kv_len; ++j) {
      const std::int64_t at = s.kv_len - s.q_len + i;  // the key at the query's own place
      const bool seen = s.causal ? j <= at && (s.window <= 0 || j > at - s.window) : true;
      pairs += seen;
    }
  }
  return pairs;
}

TEST(Attention, PairsAreCountedExactly) {
  for (const std::int64_t q : {2, 5, 17, 64}) {
    for (const std::int64_t kv : {2, 5, 17, 64, 90}) {
      for (const std::int64_t window : {0, 1, 4, 16, 63, 64, 1000}) {
        AttentionShape shape{1, q, kv, 1, 1, 64, window, true, AttentionBackend::best};
        EXPECT_EQ(attention_pairs(shape), pairs_counted(shape)) << q << " " << kv << " " << window;
      }
      AttentionShape shape{1, q, kv, 1, 1, 64, 0, false, AttentionBackend::best};
      EXPECT_EQ(attention_pairs(shape), static_cast<double>(q * kv));
    }
  }
  // one causal layer of H 32, d 128, S 8192 does 4·H·d operations a pair
  AttentionShape large{1, 8192, 8192, 32, 8, 128, 0, true, AttentionBackend::best};
  EXPECT_EQ(4 * 32 * 128 * attention_pairs(large), 549822922752.0);
  large.window = 1024;
  EXPECT_EQ(4 * 32 * 128 * attention_pairs(large), 128857407488.0);
}

TEST(Gemm, AlignmentIsTheSixteenBytesOfALoad) {
  EXPECT_EQ(alignment_class(4000), 8);
  EXPECT_EQ(alignment_class(4004), 4);
  EXPECT_EQ(alignment_class(4002), 2);
  EXPECT_EQ(alignment_class(4001), 1);
  EXPECT_TRUE(is_aligned({1, 4000, 4096}));
  EXPECT_FALSE(is_aligned({2048, 4096, 4100}));
}

TEST(Specification, SaysSoOnEveryNumber) {
  const auto source = specification_source(h200_sheet());
  const KernelTime gemm = predict_gemm(*source, "gemm", {2048, 4096, 4096});
  EXPECT_EQ(gemm.provenance, Provenance::specification);
  EXPECT_EQ(gemm.bound, Bound::tensor);
  EXPECT_GT(gemm.high_ms, 1.5 * gemm.ms);
  EXPECT_LT(gemm.low_ms, gemm.ms);
  EXPECT_EQ(predict_gemm(*source, "gemm", {1, 32, 32}).bound, Bound::launch);
  EXPECT_EQ(predict_gemm(*source, "gemm", {2048, 4001, 4096}).bound, Bound::alignment);
  EXPECT_EQ(predict_gemm(*source, "gemm", {1, 28672, 8192}).bound, Bound::hbm);
}

TEST(Specification, MoreTokensNeverCostLess) {
  const auto source = specification_source(h200_sheet());
  double before = 0;
  for (std::int64_t m = 1; m <= 4096; m += m < 64 ? 1 : 61) {
    const double ms = predict_gemm(*source, "gemm", {m, 4096, 4096}).ms;
    EXPECT_GE(ms, 0.999 * before) << m;
    before = ms;
  }
}

TEST(Layer, IsTheSumOfItsKernels) {
  const auto source = specification_source(h200_sheet());
  Layer layer{"", 4096, 32, 8, 128, 14336, 2048, 1};
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    for (const bool norm : {false, true}) {
      layer.phase = phase;
      layer.use_qk_norm = norm;
      const Prediction p = predict_measured(*source, layer);
      double sum = 0;
      for (const KernelTime& kernel : p.kernels()) {
        sum += kernel.ms;
        EXPECT_LE(kernel.low_ms, kernel.ms) << kernel.name;
        EXPECT_GE(kernel.high_ms, kernel.ms) << kernel.name;
        EXPECT_LE(kernel.ms, p.kernel_storage[p.bottleneck].ms);
      }
      EXPECT_DOUBLE_EQ(sum, p.total_ms);
      EXPECT_EQ(p.kernel_count, phase == Phase::decode ? 11u : 10u);
    }
  }
}

TEST(Layer, IsAsUnsureAsItsKernelsTogetherWhereThatIsMore) {
  auto source = *specification_source(h200_sheet());
  const Layer layer{"", 4096, 32, 8, 128, 14336, 2048, 1};
  const auto ratio = [&](double half_width) {
    source.layers[static_cast<std::size_t>(layer_kind(layer))].half_width = half_width;
    const Prediction p = predict_measured(source, layer);
    double squares = 0;
    for (const KernelTime& kernel : p.kernels())
      squares += (kernel.high_ms - kernel.ms) * (kernel.high_ms - kernel.ms);
    EXPECT_NEAR(p.high_ms / p.total_ms, p.total_ms / p.low_ms, 1e-12);
    EXPECT_NEAR(p.high_ms / p.total_ms, std::max(std::exp(half_width), 1 + std::sqrt(squares) / p.total_ms),
                1e-12);
    return p.high_ms / p.total_ms;
  };
  EXPECT_GT(ratio(0.01), 1.1);  // generic kernels are far less sure than that
  EXPECT_NEAR(ratio(3), std::exp(3.0), 1e-9);
}

TEST(Layer, TheColumnsTimesTheTermsAreTheTotal) {
  const auto source = specification_source(h200_sheet());
  Layer layer{"", 2048, 16, 2, 128, 8192, 4096, 2};
  layer.backend = AttentionBackend::flash;
  for (const std::int64_t window : {0, 512}) {
    for (const Phase phase : {Phase::prefill, Phase::decode}) {
      layer.window_size = window;
      layer.phase = phase;
      layer.use_qk_norm = window > 0;
      const auto columns = layer_columns(*source, layer);
      const auto& terms = source->layers[static_cast<std::size_t>(layer_kind(layer))].terms;
      double us = 0;
      for (std::size_t i = 0; i < kLayerTermCount; ++i) us += terms[i] * columns[i];
      EXPECT_NEAR(predict_measured(*source, layer).total_ms * 1e3, us, 1e-9 * us);
    }
  }
}

TEST(Layer, EveryKindOfLayerIsFittedByTheKernelsThatItIsPredictedBy) {
  const auto source = specification_source(h200_sheet());
  for (int kind = 0; kind < 64; ++kind) {
    Layer layer{"", 2048, 16, 2, 128, 8192, 4096, 2};
    layer.backend = AttentionBackend::flash;
    layer.phase = (kind & 1) != 0 ? Phase::decode : Phase::prefill;
    layer.activation = (kind & 2) != 0 ? Activation::plain : Activation::gated;
    layer.norms = (kind & 4) != 0 ? 4 : 2;
    layer.parallel = (kind & 8) != 0;
    layer.rope = (kind & 16) != 0;
    layer.use_qk_norm = (kind & 32) != 0;
    const Prediction p = predict_measured(*source, layer);
    const DecoderKernels list = decoder_kernels(layer, !attention_writes_cache(*source));
    ASSERT_EQ(p.kernel_count, list.size());
    std::size_t pointwise = 0, projections = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(p.kernel_storage[i].name, list[i].name);
      pointwise += is_pointwise(list[i].role) ? 1U : 0U;
      projections += projection(layer, list[i].name) ? 1U : 0U;
    }
    EXPECT_EQ(projections, 4U);
    EXPECT_EQ(predict_pointwise(*source, layer).size(), pointwise);
    const auto columns = layer_columns(*source, layer);
    const auto& terms = source->layers[static_cast<std::size_t>(layer_kind(layer))].terms;
    double us = 0;
    for (std::size_t i = 0; i < kLayerTermCount; ++i) us += terms[i] * columns[i];
    EXPECT_NEAR(p.total_ms * 1e3, us, 1e-9 * us) << kind;
  }
}

TEST(Layer, FlexAttentionIsTakenOnlyWhereItIsAskedForAndMeasured) {
  const std::vector<std::string> folders{PLUMBLINE_SOURCE_DIR "/hardware"};
  const auto hardware = load_hardware("h200", folders);
  ASSERT_TRUE(hardware.ok());
  const auto pytorch = hardware.value->sources[0], vllm = hardware.value->sources[1];
  Layer layer{"", 4096, 32, 8, 128, 14336, 8192, 1};
  layer.window_size = 1024;
  const auto attention = [&](AttentionBackend backend) {
    layer.backend = backend;
    return *predict_measured_kernel(*pytorch, layer, 3, nullptr);
  };
  const double best = attention(AttentionBackend::best).ms, flex = attention(AttentionBackend::flex).ms;
  EXPECT_EQ(best, attention(AttentionBackend::varlen).ms);
  EXPECT_LT(flex, best);
  EXPECT_EQ(attention(AttentionBackend::flex).provenance, Provenance::extrapolated);  // alone, not in a layer
  EXPECT_GT(flex, predict_attention(*pytorch, "", attention_shape(layer)).ms);        // its output's copy

  const auto refused = [&](const std::shared_ptr<const KernelSource>& source) {
    Predictor predictor;
    predictor.source = source;
    return unsupported(predictor, layer).has_value();
  };
  EXPECT_FALSE(refused(pytorch));
  EXPECT_TRUE(refused(vllm));
  layer.phase = Phase::decode;
  EXPECT_TRUE(refused(pytorch));
  layer.phase = Phase::prefill;
  layer.window_size = layer.seq_len;
  EXPECT_TRUE(refused(pytorch));
  AttentionShape shape = attention_shape(layer);
  EXPECT_TRUE(check_request(*pytorch, {shape, {}}).empty());
  EXPECT_EQ(check_request(*vllm, {shape, {}}).at(0).code, "kernel-not-measured");
}

TEST(Layer, AWindowCostsNoMoreThanFullAttention) {
  const auto source = specification_source(h200_sheet());
  Layer layer{"", 4096, 32, 8, 128, 14336, 8192, 1};
  const double full = predict_measured(*source, layer).total_ms;
  layer.window_size = 8192;
  EXPECT_EQ(predict_measured(*source, layer).total_ms, full);
  layer.window_size = 512;
  EXPECT_LT(predict_measured(*source, layer).total_ms, full);
}

Forest two_trees() {
  Forest forest;
  forest.cut_begin = {0, 2, 3};
  forest.cuts = {1.0F, 2.0F, 10.0F};
  forest.node_begin = {0, 2, 2};
  forest.nodes = {{0, 0, ~0, 1}, {1, 0, ~1, ~2}};  // x0 <= 1: leaf 0; else x1 <= 10: leaf 1, else leaf 2
  forest.leaves = {10, 20, 30, 1};
  forest.scale = 0.5;
  forest.base = 100;
  return forest;
}

TEST(Forest, AddsItsTrees) {
  const Forest forest = two_trees();
  const auto at = [&](float a, float b) { return evaluate(forest, std::array<float, 2>{a, b}); };
  EXPECT_EQ(at(0, 0), 105.5);
  EXPECT_EQ(at(1, 99), 105.5);
  EXPECT_EQ(at(1.5F, 10), 110.5);
  EXPECT_EQ(at(9, 11), 115.5);
}

TEST(Forest, IsWrittenAndReadAgain) {
  std::string bytes;
  append_forest(two_trees(), bytes);
  std::string_view rest = bytes;
  const auto read = take_forest(rest, "x.bin");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(rest.empty());
  std::string again;
  append_forest(*read.value, again);
  EXPECT_EQ(again, bytes);
}

TEST(Forest, DamageIsRefusedNeverFollowed) {
  std::string bytes;
  append_forest(two_trees(), bytes);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    std::string_view rest = std::string_view(bytes).substr(0, cut);
    EXPECT_FALSE(take_forest(rest, "x.bin").ok()) << cut;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      std::string_view rest = damaged;
      const auto read = take_forest(rest, "x.bin");
      if (!read.ok()) continue;  // what still reads must be safe to walk
      std::vector<float> row(std::max<std::size_t>(read.value->features(), 2), 1.5F);
      EXPECT_TRUE(std::isfinite(evaluate(*read.value, row))) << i;
    }
  }
}

}  // namespace
}  // namespace plumbline
