// SPDX-License-Identifier: Apache-2.0
// Bands of layers: on any card and within one, of kernels that were measured without layers, and at a clock.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "plumbline/base/files.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

const std::string kSource = PLUMBLINE_SOURCE_DIR;

Hardware h200() { return *load_hardware("h200", std::vector<std::string>{kSource + "/hardware"}).value; }

Layer llama() {
  Layer layer;
  layer.hidden_dim = 4096;
  layer.num_heads = 32;
  layer.num_kv_heads = 8;
  layer.head_dim = 128;
  layer.ffn_dim = 14336;
  layer.seq_len = 4096;
  layer.backend = AttentionBackend::flash;
  return layer;
}

TEST(Bands, OfAnyCardAreWiderThanWithinOne) {
  const auto source = find_source(h200(), "pytorch");
  ASSERT_NE(source, nullptr);
  for (const FittedLayer& layer : source->layers) {
    EXPECT_GE(layer.sessions, 4);
    EXPECT_GE(layer.half_width, layer.within_half_width);
    EXPECT_GE(layer.errors.coverage_pct.value(), 83);  // of a session that the fit, and its band, did not see
    EXPECT_LE(layer.errors.coverage_pct.value(), 97);
  }
  const Prediction p = predict_measured(*source, llama());
  EXPECT_TRUE(p.any_card());
  EXPECT_EQ(band_scope(p), "any_card");
  EXPECT_LE(p.low_ms, p.within_low_ms);
  EXPECT_GE(p.high_ms, p.within_high_ms);
  EXPECT_GT(p.within_high_ms, p.total_ms);
}

TEST(Bands, OfUnmeasuredLayersComeFromTheirKernels) {
  const auto vllm = find_source(h200(), "vllm");
  ASSERT_NE(vllm, nullptr);
  Layer layer = llama();
  layer.backend = AttentionBackend::best;
  const Prediction p = predict_measured(*vllm, layer);
  EXPECT_EQ(band_scope(p), "one_card");
  EXPECT_GE(p.high_ms / p.total_ms, std::exp(0.0999));
  EXPECT_LT(p.high_ms / p.total_ms, 1.2);
  EXPECT_EQ(weakest_provenance(p), Provenance::specification);  // its element-wise kernels
}

TEST(Bands, OfKernelsHoldLayersThatWereMeasured) {
  KernelSource bare = *find_source(h200(), "pytorch");
  const auto generic = specification_source(h200().sheet);
  bare.layers = generic->layers;  // as if no layer had been measured
  for (const char* files : {"layers", "layers_window", "layers_decode"}) {
    MeasuredRows rows;
    for (const char* run : {"", "_2", "_3", "_4"}) {
      const std::string path = kSource + "/measured/h200/" + files + run + ".csv";
      read_rows(*read_text_file(path).value, path, h200().sheet, rows);
    }
    ASSERT_GE(rows.layers.size(), 80u);
    double inside = 0;
    for (const auto& row : rows.layers) {
      const Prediction p = predict_measured(bare, row.shape);
      inside += p.low_ms <= row.us * 1e-3 && row.us * 1e-3 <= p.high_ms;
    }
    const double covered = 100 * inside / static_cast<double>(rows.layers.size());
    EXPECT_GE(covered, 83) << files;
    RecordProperty(files, std::to_string(covered));
  }
}

TEST(Bands, AClockMovesWhatGoesByIt) {
  KernelSource source = *find_source(h200(), "pytorch");
  source.sm_mhz = 1800;
  const auto slow = at_clock(source, 1620), same = at_clock(source, 1800);
  const GemmShape large{8192, 8192, 8192}, thin{1, 8192, 8192};
  const auto ratio = [&](const GemmShape& shape) {
    return predict_gemm(*slow, "", shape).ms / predict_gemm(source, "", shape).ms;
  };
  EXPECT_NEAR(ratio(large), 1800.0 / 1620, 0.02);
  EXPECT_NEAR(ratio(thin), 1, 0.02);  // HBM's
  AttentionShape decode{64, 1, 8192, 32, 8, 128, 0, false, AttentionBackend::flash};
  EXPECT_NEAR(predict_attention(*slow, "", decode).ms / predict_attention(source, "", decode).ms, 1, 0.02);
  EXPECT_EQ(predict_gemm(*same, "", large).ms, predict_gemm(source, "", large).ms);
  const Prediction before = predict_measured(source, llama()), at = predict_measured(*same, llama());
  EXPECT_EQ(band_scope(at), "one_card");  // the clock says what cards differ in
  EXPECT_DOUBLE_EQ(at.total_ms, before.total_ms);
  EXPECT_DOUBLE_EQ(at.high_ms, before.within_high_ms);
}

}  // namespace
}  // namespace plumbline
