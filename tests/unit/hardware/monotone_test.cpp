// SPDX-License-Identifier: Apache-2.0
// More work never costs less, beyond the noise that a prediction's band states: every shipped source, over
// grids.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

const std::vector<std::string> kDirectories{PLUMBLINE_SOURCE_DIR "/hardware"};

/// Sizes checked, and those that cost less than the band of a smaller one allows.
struct Growth {
  int checked = 0, dips = 0;
};

constexpr double kDeepestDip =
    0.8;                        ///< measured kernels dip by up to 15 %, and bands are a few per cent wide
constexpr double kDips = 0.01;  ///< share of the sizes that may dip at all

void check_growth(const std::string& what, const std::vector<std::int64_t>& sizes,
                  const std::function<KernelTime(std::int64_t)>& time_of, Growth& growth) {
  double floor_ms = 0;
  for (const std::int64_t size : sizes) {
    const KernelTime time = time_of(size);
    EXPECT_GE(time.ms, kDeepestDip * floor_ms) << what << ": " << size;
    ++growth.checked;
    growth.dips += time.ms < floor_ms;
    floor_ms = std::max(floor_ms, time.low_ms);
  }
}

void for_each_source(const std::function<void(const KernelSource&, const std::string&)>& check) {
  int sources = 0;
  for (const std::string& name : hardware_names(kDirectories)) {
    const auto hardware = load_hardware(name, kDirectories);
    ASSERT_TRUE(hardware.ok()) << name;
    for (const auto& source : hardware.value->sources) {
      check(*source, name + " " + source->name);
      ++sources;
    }
  }
  EXPECT_GE(sources, 4);
}

TEST(Monotone, MoreRowsOfAGemmNeverCostLess) {
  std::vector<std::int64_t> rows;
  for (std::int64_t m = 32; m <= 32768; m *= 2) {
    rows.push_back(m);
    rows.push_back(m + m / 2);
  }
  for_each_source([&](const KernelSource& source, const std::string& name) {
    Growth growth;
    for (const std::int64_t n : {512, 1024, 2560, 4096, 8192, 14336, 28672}) {
      for (const std::int64_t k : {512, 1024, 2560, 4096, 8192, 14336, 28672}) {
        check_growth(
            fmt::format("{} n={} k={}", name, n, k), rows,
            [&](std::int64_t m) {
              return predict_gemm(source, "gemm", {m, n, k});
            },
            growth);
      }
    }
    EXPECT_EQ(growth.checked, 49 * static_cast<int>(rows.size()));
    EXPECT_LE(growth.dips, kDips * growth.checked) << name;
  });
}

const std::vector<std::array<std::int64_t, 3>> kHeads{
    {32, 8, 128}, {64, 8, 128}, {32, 32, 128}, {16, 4, 128}, {8, 1, 128}};

AttentionShape prompt_of(const std::array<std::int64_t, 3>& heads, std::int64_t batch, std::int64_t length) {
  AttentionShape shape;
  shape.batch = batch;
  shape.q_len = shape.kv_len = length;
  shape.heads = heads[0];
  shape.kv_heads = heads[1];
  shape.head_dim = heads[2];
  return shape;
}

AttentionShape token_of(const std::array<std::int64_t, 3>& heads, std::int64_t batch, std::int64_t keys) {
  AttentionShape shape = prompt_of(heads, batch, keys);
  shape.q_len = 1;
  return shape;
}

TEST(Monotone, LongerAndMorePromptsNeverCostLess) {
  const std::vector<std::int64_t> lengths{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  const std::vector<std::int64_t> batches{1, 2, 4, 8, 16, 32};
  for_each_source([&](const KernelSource& source, const std::string& name) {
    Growth growth;
    for (const auto make : {prompt_of, token_of}) {
      const std::string kind = make == prompt_of ? "prefill" : "decode";
      for (const auto& heads : kHeads) {
        const auto time = [&](std::int64_t batch, std::int64_t length) {
          return predict_attention(source, "attention", make(heads, batch, length));
        };
        for (const std::int64_t batch : batches) {
          check_growth(
              fmt::format("{} {} {}/{} batch {} length", name, kind, heads[0], heads[1], batch), lengths,
              [&](std::int64_t length) { return time(batch, length); }, growth);
        }
        for (const std::int64_t length : lengths) {
          check_growth(
              fmt::format("{} {} {}/{} length {} batch", name, kind, heads[0], heads[1], length), batches,
              [&](std::int64_t batch) { return time(batch, length); }, growth);
        }
      }
    }
  });
}

}  // namespace
}  // namespace plumbline
