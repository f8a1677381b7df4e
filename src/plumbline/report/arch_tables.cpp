// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/arch_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/model/measured.h"

namespace plumbline::detail {
namespace {

std::string ms(double value) { return format_fixed(value, value < 0.01 ? 6 : 3); }

std::string band(double low, double high) { return fmt::format("{} - {}", ms(low), ms(high)); }

/// "any card": what the band of a total holds on.
std::string scope_words(const Prediction& prediction) {
  std::string words(band_scope(prediction));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string pct(const std::optional<double>& value) {
  return value ? fmt::format("{}{}", *value >= 0 ? "+" : "", format_fixed(*value, 2)) : "";
}

}  // namespace

/// Adds what was measured of exactly these kernels, where the source kept any: beside the predictions, and
/// alone, for inside a layer a kernel meets other caches and clocks.
void add_measured(TextTable& table, const Predictor& predictor, const Layer& layer,
                  const Prediction& prediction) {
  if (predictor.source == nullptr) return;
  std::vector<std::string> texts;
  bool any = false;
  for (const KernelTime& kernel : prediction.kernels()) {
    const auto alone = kept_measurement(*predictor.source, layer, kernel.name);
    any |= alone.has_value();
    texts.push_back(alone ? ms(*alone) : "–");
  }
  if (!any) return;
  table.columns.push_back({"measured alone", Align::right});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!table.rows[i].empty()) table.rows[i].push_back(i < texts.size() ? texts[i] : "");
  }
}

/// Adds a column with each row's band before column `at`, where the model has bands (low differs from high):
/// true then.
template <class BandOf>
bool insert_band(TextTable& table, std::size_t at, BandOf band_of) {
  if (table.rows.empty() || band_of(0).first == band_of(0).second) return false;
  table.columns.insert(table.columns.begin() + static_cast<std::ptrdiff_t>(at), {"band ms", Align::right});
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto [low, high] = band_of(row);
    auto& cells = table.rows[row];
    cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(at), Cell(band(low, high)));
  }
  return true;
}

bool has_band(const Predictor& predictor) { return predictor.model != LatencyModel::proxy; }

std::string gpu_title(const Predictor& predictor) {
  return predictor.source_name.empty()
             ? fmt::format("{}, {} model", predictor.hardware, to_string(predictor.model))
             : fmt::format("{}, {} model ({})", predictor.hardware, to_string(predictor.model),
                           predictor.source_name);
}

std::string part_text(const PartValue& part) {
  return part.format.empty() ? fmt::format("{}={}", part.name, part.number)
                             : fmt::format("{}={}", part.name, part.format);
}

std::string sweep_title(const Sweep& sweep) {
  std::string title = fmt::format("{} {}..{} on", sweep.range.dimension, sweep.range.first, sweep.range.last);
  for (const LayerField& field : layer_fields()) {
    const bool full = field.member == &Layer::window_size && sweep.base.window_size <= 0;
    if (field.name != sweep.range.dimension && !full) {
      title += fmt::format(" {}={}", field.name, sweep.base.*field.member);
    }
  }
  for (const PartValue& part : part_values(sweep.base)) {
    if (part.name != sweep.range.dimension) title += " " + part_text(part);
  }
  if (sweep.base.use_qk_norm) title += " use_qk_norm=1";
  if (sweep.base.phase == Phase::decode) title += " phase=decode";
  return title;
}

TextTable kernel_table(const Predictor& predictor, const Layer& layer, const Prediction& prediction) {
  TextTable table{{{"kernel"},
                   {"ms", Align::right},
                   {"share", Align::right},
                   {"band ms", Align::right},
                   {"bound by"},
                   {"from"}},
                  {}};
  const bool band_known = prediction.low_ms != prediction.high_ms;
  for (const KernelTime& kernel : prediction.kernels()) {
    const bool most = &kernel == &prediction.kernels()[prediction.bottleneck];
    table.rows.push_back({{std::string(kernel.name), most ? Style::bold : Style::plain},
                          ms(kernel.ms),
                          fmt::format("{} %", format_fixed(100 * kernel.ms / prediction.total_ms, 1)),
                          band_known ? band(kernel.low_ms, kernel.high_ms) : "none",
                          std::string(to_string(kernel.bound)),
                          std::string(to_string(kernel.provenance))});
  }
  table.rows.push_back({});
  table.rows.push_back({{"total", Style::bold},
                        {ms(prediction.total_ms), Style::bold},
                        "",
                        band_known ? band(prediction.low_ms, prediction.high_ms) : "none",
                        "",
                        band_known ? scope_words(prediction) : ""});
  if (prediction.any_card())
    table.rows.push_back(
        {"", "", "", band(prediction.within_low_ms, prediction.within_high_ms), "", "within one card"});
  add_measured(table, predictor, layer, prediction);
  return table;
}

TextTable preset_table(const ArchReport& report) {
  TextTable table{{{"layer", Align::left, 40}, {"passes"}, {"fails"}}, {}};
  const PresetVerdict& preset = *report.preset;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    std::string fails;
    for (const std::size_t rule : preset.failed[i])
      fails += (fails.empty() ? "" : "; ") + preset.rules[rule].expression.text;
    table.rows.push_back(
        {printable(report.layers[i].name), preset.passes(i) ? "yes" : "no", Cell(fails, Style::warn)});
  }
  return table;
}

std::string preset_title(const PresetVerdict& preset) {
  return fmt::format("{}: {} of {} layers pass; only these are ranked", preset.name, preset.passed(),
                     preset.failed.size());
}

TextTable layer_table(const ArchReport& report, const GpuReport& gpu) {
  TextTable table{{{"layer", Align::left, 40},
                   {"total ms", Align::right},
                   {"band ms", Align::right},
                   {"ms / Mparam", Align::right},
                   {"bottleneck"},
                   {"share", Align::right},
                   {"tile eff. D / F / d", Align::right}},
                  {}};
  if (!has_band(gpu.predictor)) table.columns.erase(table.columns.begin() + 2);
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const Prediction& p = gpu.predictions[i];
    const KernelTime& most = p.kernels()[p.bottleneck];
    const auto& t = p.tile_penalties;
    std::vector<Cell> row{printable(report.layers[i].name),
                          ms(p.total_ms),
                          band(p.low_ms, p.high_ms),
                          format_fixed(p.ms_per_mparam_proxy, 4),
                          std::string(most.name),
                          fmt::format("{} %", format_fixed(100 * most.ms / p.total_ms, 0)),
                          fmt::format("{} / {} / {}", format_fixed(t[0].efficiency, 2),
                                      format_fixed(t[1].efficiency, 2), format_fixed(t[2].efficiency, 2))};
    if (!has_band(gpu.predictor)) row.erase(row.begin() + 2);
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable ranking_table(std::span<const Layer> layers, std::span<const Score> scores,
                        std::span<const std::size_t> order) {
  TextTable table{{{"#", Align::right},
                   {"layer", Align::left, 40},
                   {"total ms", Align::right},
                   {"ms / Mparam", Align::right},
                   {"bottleneck"}},
                  {}};
  std::size_t place = 0;
  for (const std::size_t i : order) {
    table.rows.push_back({std::to_string(++place), printable(layers[i].name), ms(scores[i].total_ms),
                          format_fixed(scores[i].ms_per_mparam_proxy, 4), std::string(scores[i].bottleneck)});
  }
  const auto band_of = [&](std::size_t row) {
    const Score& score = scores[order[row]];
    return std::pair(score.low_ms, score.high_ms);
  };
  if (insert_band(table, 3, band_of)) {
    table.columns.push_back({"provenance"});
    for (std::size_t row = 0; row < order.size(); ++row)
      table.rows[row].push_back(std::string(to_string(scores[order[row]].provenance)));
  }
  return table;
}

TextTable sweep_table(const Sweep& sweep) {
  TextTable table{{{sweep.range.dimension, Align::right},
                   {"total ms", Align::right},
                   {"step %", Align::right},
                   {"over line %", Align::right}},
                  {}};
  const bool tiled = !sweep.points.empty() && sweep.points.front().tile.has_value();
  if (tiled) {
    table.columns.push_back({"tile eff.", Align::right});
    table.columns.push_back({"waste %", Align::right});
    table.columns.push_back({"128"});
  }
  table.columns.push_back({"bottleneck"});
  for (const SweepPoint& point : sweep.points) {
    const Prediction& p = point.prediction;
    std::vector<Cell> row{std::to_string(point.value), ms(p.total_ms), pct(point.step_pct),
                          pct(point.excess_pct)};
    if (tiled) {
      const TilePenalty& tile = *point.tile;
      row.emplace_back(format_fixed(tile.efficiency, 3));
      row.emplace_back(format_fixed(tile.wasted_work_pct, 1));
      row.push_back({tile.aligned_128 ? "yes" : "no", tile.aligned_128 ? Style::plain : Style::warn});
    }
    row.emplace_back(std::string(p.kernels()[p.bottleneck].name));
    table.rows.push_back(std::move(row));
  }
  insert_band(table, 2, [&](std::size_t row) {
    const Prediction& p = sweep.points[row].prediction;
    return std::pair(p.low_ms, p.high_ms);
  });
  return table;
}

std::string agreement_title(const ArchReport& report) {
  std::string by;
  bool one = true;
  for (const GpuReport& gpu : report.gpus) {
    one = one && comparable(gpu.predictor, report.gpus.front().predictor);
    by += fmt::format("{}{} {}", by.empty() ? "" : ", ", gpu.predictor.hardware, timed_by(gpu.predictor));
  }
  if (one) return fmt::format("Do the GPUs agree?  (by {})", timed_by(report.gpus.front().predictor));
  return fmt::format("Do the GPUs agree?  (mixed: {}; times of different frameworks do not compare)", by);
}

TextTable agreement_table(const ArchReport& report) {
  TextTable table{{{"GPUs"},
                   {"by"},
                   {"Kendall's tau", Align::right},
                   {"pairs swapped", Align::right},
                   {"layers that change rank"}},
                  {}};
  for (const Agreement& each : report.agreement) {
    table.rows.push_back({fmt::format("{} / {}", each.a, each.b), std::string(to_string(each.metric)),
                          each.kendall_tau ? format_fixed(*each.kendall_tau, 3) : "–",
                          each.comparable ? fmt::format("{} of {}", each.discordant_pairs, each.pairs) : "–",
                          each.comparable ? std::to_string(each.moved.size()) : "–"});
  }
  return table;
}

std::vector<Score> scores_of(const GpuReport& gpu) {
  std::vector<Score> scores;
  for (const Prediction& prediction : gpu.predictions) scores.push_back(score_of(prediction));
  return scores;
}

}  // namespace plumbline::detail
