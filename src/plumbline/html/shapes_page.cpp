// SPDX-License-Identifier: Apache-2.0
// Rankings, sweeps and the report on layers as pages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/html/page.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/arch_tables.h"
#include "plumbline/report/prediction_json.h"
#include "plumbline/report/takeaways.h"

namespace plumbline::html {
namespace {

using plumbline::detail::gpu_title;

constexpr std::size_t kMostChosen = 100;  // layers that can be chosen as JSON
constexpr std::size_t kMostStacks = 24;
constexpr double kCliffPct = 5;  // of one step, to be marked

/// Indices of the layers that nothing beats in time and in ms a million parameters' sizes at once: fewest ms
/// at each parameter count.
std::vector<bool> front_of(std::span<const double> parameters, std::span<const Score> scores,
                           std::span<const std::size_t> order) {
  std::vector<std::size_t> by_size(order.begin(), order.end());
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return parameters[a] != parameters[b] ? parameters[a] > parameters[b]
                                          : scores[a].total_ms < scores[b].total_ms;
  });
  std::vector<bool> front(scores.size(), false);
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : by_size) {
    if (scores[i].total_ms >= least) continue;
    least = scores[i].total_ms;
    front[i] = true;
  }
  return front;
}

double parameters_of(const Score& score) {
  return score.ms_per_mparam_proxy > 0 ? score.total_ms / score.ms_per_mparam_proxy : 0;
}

StackRow stack_of(const std::string& name, const Prediction& p) {
  StackRow row{name, {}, format_fixed(p.total_ms, 3) + " ms"};
  for (const KernelTime& kernel : p.kernels()) row.parts.emplace_back(std::string(kernel.name), kernel.ms);
  return row;
}

void add_sweep(Html& out, const Predictor& predictor, const Sweep& sweep) {
  Series series{gpu_title(predictor), {}, {}};
  LineOptions options{sweep.range.dimension, "layer, ms", {}, {}, {}};
  bool band = false;
  for (const SweepPoint& point : sweep.points) {
    const Prediction& p = point.prediction;
    series.points.emplace_back(static_cast<double>(point.value), p.total_ms);
    series.band.emplace_back(p.low_ms, p.high_ms);
    band |= p.low_ms != p.high_ms;
    if (point.step_pct && *point.step_pct > kCliffPct && options.marks.size() < 12)
      options.marks.push_back({static_cast<double>(point.value),
                               fmt::format("{} +{} %", point.value, format_fixed(*point.step_pct, 1))});
  }
  if (!band) series.band.clear();
  out.add(line_chart(plumbline::detail::sweep_title(sweep), {series}, options));
  out.add(table_html(plumbline::detail::sweep_table(sweep), {"Sizes of " + sweep.range.dimension, true, ""}));
}

/// "The largest step: hidden_dim 4128, +2.2 %."
std::string cliffs_in_words(const std::vector<Sweep>& sweeps) {
  std::string out;
  for (const Sweep& sweep : sweeps) {
    const SweepPoint* most = nullptr;
    for (const SweepPoint& point : sweep.points) {
      if (point.step_pct && (most == nullptr || *point.step_pct > *most->step_pct)) most = &point;
    }
    if (most == nullptr) continue;
    out += fmt::format("{}{}: the largest step is {} % at {}.", out.empty() ? "" : " ", sweep.range.dimension,
                       format_fixed(*most->step_pct, 1), most->value);
  }
  return out;
}

Html ranking_plot(std::span<const Layer> layers, std::span<const Score> scores,
                  std::span<const std::size_t> order, const std::string& id) {
  std::vector<double> parameters;
  for (const Score& score : scores) parameters.push_back(parameters_of(score));
  const std::vector<bool> front = front_of(parameters, scores, order);
  std::vector<Point> points;
  for (const std::size_t i : order) {
    points.push_back(
        {parameters[i], scores[i].total_ms,
         fmt::format("{}: {:.4g} ms, {:.4g} M", layers[i].name, scores[i].total_ms, parameters[i]),
         front[i]});
  }
  return scatter_chart("Time of a layer against its parameters; joined: no layer is larger and faster",
                       points,
                       {"parameters of the layer's GEMMs, millions", "ms", false, false, false, true, id});
}

TextTable changes_table(const std::vector<LayerChange>& changes) {
  TextTable table;
  table.columns = {{"dimension"},
                   {"from", Align::right},
                   {"to", Align::right},
                   {"total ms", Align::right},
                   {"time %", Align::right},
                   {"parameters %", Align::right}};
  for (const LayerChange& each : changes) {
    table.rows.push_back({each.dimension, std::to_string(each.from), std::to_string(each.to),
                          format_fixed(each.total_ms, each.total_ms < 0.01 ? 6 : 3),
                          fmt::format("{:+.2f}", each.ms_pct), fmt::format("{:+.2f}", each.parameters_pct)});
  }
  return table;
}

}  // namespace

std::string ranking_page(const Predictor& predictor, std::span<const Layer> layers,
                         std::span<const Score> scores, std::span<const std::size_t> order, Metric metric,
                         const std::vector<LayerChange>& changes) {
  Page page;
  page.title = fmt::format("Layers by {} on {}", to_string(metric), gpu_title(predictor));
  if (!order.empty()) {
    const std::size_t best = order.front();
    page.verdict = fmt::format("The first of {} is {}: {} ms.", order.size(), one_line(layers[best].name),
                               format_fixed(scores[best].total_ms, 3));
  }
  Html& out = page.body;
  begin_section(out, "plot", "Time and size");
  out.add(ranking_plot(layers, scores, order, "points"));
  end_section(out);
  begin_section(out, "ranking", "Ranking");
  add_long_table(out, plumbline::detail::ranking_table(layers, scores, order), "Ranking", "rows", "layers");
  end_section(out);
  if (!order.empty()) {
    if (!changes.empty()) {
      begin_section(out, "sensitivity", "The first layer, one dimension changed");
      out.add(table_html(changes_table(changes), {"Time and parameters of its GEMMs", false, ""}));
      end_section(out);
    }
    begin_section(out, "chosen", "The first layer");
    std::vector<std::pair<std::string, Json>> documents;
    for (const std::size_t i : order) {
      if (documents.size() == kMostChosen) break;
      documents.emplace_back(fmt::format("{}. {}", documents.size() + 1, one_line(layers[i].name)),
                             layer_json(layers[i]));
    }
    add_documents(out, documents, "documents");
    end_section(out);
  }
  return render_page(page);
}

std::string sweep_page(const Predictor& predictor, const std::vector<Sweep>& sweeps) {
  Page page;
  page.title = "Sweep on " + gpu_title(predictor);
  page.verdict = cliffs_in_words(sweeps);
  Html& out = page.body;
  std::size_t n = 0;
  for (const Sweep& sweep : sweeps) {
    begin_section(out, fmt::format("sweep{}", ++n), sweep.range.dimension);
    add_sweep(out, predictor, sweep);
    end_section(out);
  }
  return render_page(page);
}

std::string arch_report_page(const ArchReport& report) {
  Page page;
  page.title = fmt::format("{} layers on {} GPU{}", report.layers.size(), report.gpus.size(),
                           report.gpus.size() == 1 ? "" : "s");
  Html& out = page.body;
  if (report.preset) {
    begin_section(out, "preset", "Quality");
    out.add(table_html(plumbline::detail::preset_table(report),
                       {plumbline::detail::preset_title(*report.preset), true, ""}));
    end_section(out);
  }
  if (report.gpus.size() > 1) {
    begin_section(out, "agreement", "Where GPUs agree");
    add_list(out, agreement_takeaways(report));
    out.add(table_html(plumbline::detail::agreement_table(report), {"Rankings compared", true, ""}));
    end_section(out);
  }
  std::size_t n = 0;
  for (const GpuReport& gpu : report.gpus) {
    begin_section(out, fmt::format("gpu{}", ++n), gpu_title(gpu.predictor));
    add_list(out, takeaways(report, gpu));
    std::vector<StackRow> stacks;
    for (const std::size_t i : gpu.rankings[1]) {
      if (stacks.size() < kMostStacks) stacks.push_back(stack_of(report.layers[i].name, gpu.predictions[i]));
    }
    out.add(stack_chart("Time of each layer by kernel, the fastest first", stacks, "ms"));
    out.add(table_html(plumbline::detail::layer_table(report, gpu), {"Layers", true, ""}));
    const std::vector<Score> scores = plumbline::detail::scores_of(gpu);
    for (std::size_t m = 0; m < kReportMetrics.size(); ++m) {
      out.add(table_html(plumbline::detail::ranking_table(report.layers, scores, gpu.rankings[m]),
                         {fmt::format("By {}", to_string(kReportMetrics[m])), true, ""}));
    }
    for (const Sweep& sweep : gpu.cliffs) add_sweep(out, gpu.predictor, sweep);
    end_section(out);
  }
  if (!report.left_out.empty()) {
    begin_section(out, "left-out", "Left out");
    std::vector<std::string> words;
    for (const LeftOut& each : report.left_out) words.push_back(each.hardware + ": " + each.reason);
    add_list(out, words);
    end_section(out);
  }
  return render_page(page);
}

}  // namespace plumbline::html
