// SPDX-License-Identifier: Apache-2.0
// The report on layers: what each costs on each GPU, rankings, cliffs, and where GPUs disagree.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plumbline/model/predict.h"
#include "plumbline/search/preset.h"
#include "plumbline/search/rank.h"
#include "plumbline/search/sweep.h"

namespace plumbline {

/// The metrics that a report ranks by, in the order of its sections.
inline constexpr std::array<Metric, 2> kReportMetrics{Metric::ms_per_mparam_proxy, Metric::total_ms};

/// One GPU's part. predictions[i] belongs to ArchReport::layers[i].
struct GpuReport {
  Predictor predictor;
  std::vector<Prediction> predictions;
  std::array<std::vector<std::size_t>, 2> rankings;  ///< by kReportMetrics; indices of the layers ranked
  std::vector<Sweep> cliffs;
};

/// Two GPUs' rankings by one metric, compared.
struct Agreement {
  std::string a;
  std::string b;
  Metric metric = Metric::total_ms;
  bool comparable = true;  ///< false: times of different frameworks or models; nothing below is then known
  std::int64_t pairs = 0;  ///< pairs of layers
  std::int64_t discordant_pairs = 0;  ///< ordered differently
  std::optional<double> kendall_tau;  ///< 1 − 2·discordant/pairs; none with fewer than two layers
  std::vector<std::size_t> moved;     ///< layers whose rank differs, in input order
};

/// What a predictor's times are by: the name of its kernel source ("vllm"), "data sheet" or "proxy".
std::string timed_by(const Predictor& predictor);
/// Do times of the two compare? Only those of one framework do: two differ by 6 to 65 % on one GPU.
bool comparable(const Predictor& a, const Predictor& b);

/// A GPU that was asked for and has nothing to predict with.
struct LeftOut {
  std::string hardware;
  std::string reason;
};

/// What an artifact holds.
struct ArchReport {
  std::vector<Layer> layers;
  std::vector<GpuReport> gpus;
  std::vector<Agreement> agreement;  ///< every pair of GPUs, by both metrics
  std::vector<LeftOut> left_out;
  std::optional<PresetVerdict> preset;  ///< with one, only the layers that pass it are ranked
};

/// Predicts `layers` (valid, at least one) with every predictor and sweeps the built-in sweeps. A predictor
/// that cannot cost one of them gives an error: an artifact is whole or not written. `preset`: one of
/// kPresets, or empty; all layers are predicted, those that pass it are ranked.
Parsed<ArchReport> build_arch_report(std::span<const Predictor> predictors, std::vector<Layer> layers,
                                     unsigned threads = 1, const std::string& preset = {});

}  // namespace plumbline
