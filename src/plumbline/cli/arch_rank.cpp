// SPDX-License-Identifier: Apache-2.0
// `plumbline arch rank`: layers, the fastest first.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/arch.h"
#include "plumbline/cli/page_output.h"
#include "plumbline/cli/progress.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/search/builtin.h"
#include "plumbline/search/rank.h"

namespace plumbline::cli {
namespace {

struct Options {
  ModelOptions model;
  LayerOptions layers;
  HfOptions hf;
  std::string by = "total_ms";
  std::optional<std::int64_t> top;
  std::optional<std::int64_t> threads;
  std::string html;
};

Json ranking_json(const std::vector<Layer>& layers, const std::vector<Score>& scores,
                  const std::vector<std::size_t>& order) {
  Json list = Json::array();
  for (const std::size_t i : order) {
    list.push_back({{"rank", list.size() + 1},
                    {"name", layers[i].name},
                    {"total_ms", scores[i].total_ms},
                    {"low_ms", scores[i].low_ms},
                    {"high_ms", scores[i].high_ms},
                    {"ms_per_mparam_proxy", scores[i].ms_per_mparam_proxy},
                    {"bottleneck", scores[i].bottleneck}});
  }
  return list;
}

/// All scores; in hundredths where someone may be watching.
std::vector<Score> score_with_progress(const Io& io, const Predictor& predictor,
                                       const std::vector<Layer>& layers, unsigned threads) {
  constexpr std::size_t kFew = 20000;
  if (!io.progress || layers.size() <= kFew) return score_all(predictor, layers, threads);
  Progress progress(io, "ranking", "layers");
  std::vector<Score> scores;
  scores.reserve(layers.size());
  const std::span<const Layer> all(layers);
  const std::size_t part = std::max(kFew, layers.size() / 100);
  for (std::size_t at = 0; at < all.size(); at += part) {
    const auto some = score_all(predictor, all.subspan(at, std::min(part, all.size() - at)), threads);
    scores.insert(scores.end(), some.begin(), some.end());
    progress.update(scores.size(), all.size());
  }
  return scores;
}

int run(const Io& io, const Options& options) {
  const auto predictor = load_predictor(options.model);
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  if (options.top && *options.top < 1) {
    io.report({diagnose("usage", "--top must be at least 1")});
    return kExitUsage;
  }
  std::vector<Layer> layers;
  LayerFile file;
  if (!options.hf.files.empty()) {
    if (!options.layers.layers.empty() || !options.layers.configs.empty()) {
      io.report({diagnose("usage", "--hf excludes --layer and --configs")});
      return kExitUsage;
    }
    auto kinds = load_hf_layers(options.hf, options.layers, *predictor.value);
    io.report(kinds.diagnostics);
    if (!kinds.ok()) return kExitUsage;
    for (HfLayer& kind : *kinds.value) layers.push_back(std::move(kind.layer));
  } else if (options.layers.layers.empty() && options.layers.configs.empty()) {
    layers.assign(builtin_layers().begin(), builtin_layers().end());
  } else {
    file = load_layers(options.layers, *predictor.value);
    for (LayerRow& row : file.rows) layers.push_back(std::move(row.layer));
  }
  if (!layers.empty()) {
    const Metric metric = options.by == "total_ms" ? Metric::total_ms : Metric::ms_per_mparam_proxy;
    const auto scores = score_with_progress(io, *predictor.value, layers, thread_count(options.threads));
    auto order = rank(scores, metric);
    if (options.top) order.resize(std::min(order.size(), static_cast<std::size_t>(*options.top)));
    if (!write_page(io, options.html, [&] {
          return html::ranking_page(*predictor.value, layers, scores, order, metric,
                                    layer_changes(*predictor.value, layers[order.front()]));
        }))
      return kExitUsage;
    if (io.json) {
      io.print_json(ranking_json(layers, scores, order));
    } else {
      io.print(ranking_text(*predictor.value, layers, scores, order, metric, io.look()));
    }
  }
  report_layer_errors(io, file);
  return file.errors > 0 ? kExitUsage : kExitOk;
}

}  // namespace

void add_arch_rank(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args =
      arch.subcommand("rank", "layers in order of their predicted time (the built-in ones without input)");
  add_model_options(args, options->model);
  add_layer_options(args, options->layers);
  add_hf_options(args, options->hf);
  args.choice("--by", options->by, {"total_ms", "ms_per_mparam_proxy"}, "the metric; total_ms")
      .option("--top", options->top, "only the first N");
  add_threads_option(args, options->threads);
  args.option("--html", options->html, "also write the ranking as one HTML file that opens anywhere");
  args.example(
      "plumbline arch rank --hardware h100 --model proxy --configs layers.csv --by ms_per_mparam_proxy");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
