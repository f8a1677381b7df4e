// SPDX-License-Identifier: Apache-2.0
// Predictions, rankings, sweeps and reports for a terminal, and the report as Markdown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plumbline/report/text_table.h"
#include "plumbline/search/arch_report.h"
#include "plumbline/search/model_cost.h"

namespace plumbline {

/// One layer kernel by kernel: time, band, share, what binds it, and the tile penalties.
std::string prediction_detail(const Predictor& predictor, const Layer& layer, const Prediction& prediction,
                              const Look& look);

/// The head of a list of predictions (fixed columns, so that a million rows can stream).
std::string prediction_row_head();
/// One line of that list.
std::string prediction_row(const Layer& layer, const Prediction& prediction);

/// A whole model: counts, layer types, the parts beside them, latency and tokens per second.
std::string model_cost_text(const Predictor& predictor, const Transformer& model, const Workload& workload,
                            const Deployment& deployment, const ModelCost& cost, const Look& look);

/// What kind of layer it is: "full attention", "sliding 1024, 128 experts (8 active)", "latent attention".
std::string layer_kind_text(const TransformerLayer& layer);

/// A ranking, the best first; then, for at most five layers, what window_note() says.
std::string ranking_text(const Predictor& predictor, std::span<const Layer> layers,
                         std::span<const Score> scores, std::span<const std::size_t> order, Metric metric,
                         const Look& look);

/// A sweep; sizes off the 128 grid are marked.
std::string sweep_text(const Predictor& predictor, const Sweep& sweep, const Look& look);

/// The report: tables a GPU, and the takeaways computed from it.
std::string arch_report_text(const ArchReport& report, const Look& look);

/// The same content as compact Markdown, at most 25 rows a table.
std::string arch_report_markdown(const ArchReport& report);

/// 12_345_678 FLOPs or bytes with a decimal prefix: "549.823 G".
std::string with_prefix(double value);

}  // namespace plumbline
