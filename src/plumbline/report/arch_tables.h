// SPDX-License-Identifier: Apache-2.0
// Private to the arch_*.cpp files here: the tables that text and Markdown share.
#pragma once

#include <span>

#include "plumbline/report/text_table.h"
#include "plumbline/search/arch_report.h"

namespace plumbline::detail {

TextTable kernel_table(const Predictor& predictor, const Layer& layer, const Prediction& prediction);
TextTable layer_table(const ArchReport& report, const GpuReport& gpu);
TextTable ranking_table(std::span<const Layer> layers, std::span<const Score> scores,
                        std::span<const std::size_t> order);
TextTable sweep_table(const Sweep& sweep);
TextTable agreement_table(const ArchReport& report);
/// Every layer, and the rules of the preset that it fails.
TextTable preset_table(const ArchReport& report);
/// "noeris-quality: 34 of 49 layers pass; only these are ranked".
std::string preset_title(const PresetVerdict& preset);
/// The title of the table of agreement: what all times are by, or that they are mixed and by what each.
std::string agreement_title(const ArchReport& report);

/// "experts=128", "dtype=fp8".
std::string part_text(const PartValue& part);

/// "hidden_dim swept on num_heads 32, num_kv_heads 8, …".
std::string sweep_title(const Sweep& sweep);
/// "h100, proxy model", "h200, measured model (pytorch)".
std::string gpu_title(const Predictor& predictor);
/// Has the model a band?
bool has_band(const Predictor& predictor);
/// The scores of a GPU's predictions.
std::vector<Score> scores_of(const GpuReport& gpu);

}  // namespace plumbline::detail
