// SPDX-License-Identifier: Apache-2.0
// The reports as pages: the same views that text, Markdown and JSON are made from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plumbline/evidence/confirmation.h"
#include "plumbline/hardware/validate.h"
#include "plumbline/report/confirm_view.h"
#include "plumbline/report/ledger_trend_report.h"
#include "plumbline/search/answer.h"
#include "plumbline/search/arch_report.h"
#include "plumbline/search/layer_changes.h"
#include "plumbline/search/rank.h"
#include "plumbline/search/sweep.h"

namespace plumbline::html {

/// A confirmation: verdict, ratios, boundary, kernels, readings, prep, findings, sources.
std::string confirm_page(const Confirmation& confirmation, const ConfirmView& view);

/// Layers in order, with a plot of time against parameters and the layers that nothing beats in both.
/// `changes`: the first layer's, see layer_changes().
std::string ranking_page(const Predictor& predictor, std::span<const Layer> layers,
                         std::span<const Score> scores, std::span<const std::size_t> order, Metric metric,
                         const std::vector<LayerChange>& changes);

/// The answer of a search: best shapes, Pareto front, sensitivity, what became of the shapes, what was asked.
/// `conflict`: why there is no answer, where there is none.
std::string search_page(const Problem& problem, const SearchAnswer& answer, const std::string& conflict);

/// Dimensions size by size; sizes that cost much more than the one before are marked.
std::string sweep_page(const Predictor& predictor, const std::vector<Sweep>& sweeps);

/// The report on layers and GPUs.
std::string arch_report_page(const ArchReport& report);

/// Errors of a kernel source by operation, and every row predicted against measured.
std::string accuracy_page(const std::string& title, const std::vector<OpAccuracy>& ops);

/// A card's runs over time: ratio and its steps, kernels, what is not in the same line.
std::string trend_page(const Trend& trend);

}  // namespace plumbline::html
