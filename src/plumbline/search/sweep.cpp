// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/sweep.h"

#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/model/kernel_memory.h"

namespace plumbline {
namespace {

constexpr std::int64_t kMaxPoints = 100'000;

Parsed<SweepRange> refuse(std::string_view text, std::string_view why) {
  return failed<SweepRange>(
      diagnose("sweep-invalid", fmt::format("--dim {}: {}", printable(cut_middle(text, 60)), why)));
}

/// Does a matrix product lay the dimension out in tiles by itself? (Tokens do so together with the batch, and
/// heads together with their width.)
bool tiles(const LayerField& field) {
  return field.member == &Layer::hidden_dim || field.member == &Layer::ffn_dim ||
         field.member == &Layer::head_dim || field.member == &Layer::moe_ffn_dim;
}

void add_excess(std::vector<SweepPoint>& points) {
  if (points.size() < 3) return;
  const SweepPoint& a = points.front();
  const SweepPoint& b = points.back();
  const double width = static_cast<double>(b.value - a.value);
  for (SweepPoint& point : points) {
    const double share = static_cast<double>(point.value - a.value) / width;
    const double line = a.prediction.total_ms + share * (b.prediction.total_ms - a.prediction.total_ms);
    point.excess_pct = (point.prediction.total_ms / line - 1.0) * 100.0;
  }
}

}  // namespace

Parsed<SweepRange> parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return refuse(text, "expected FIELD=FIRST:LAST:STEP");
  SweepRange range;
  range.dimension = trim(text.substr(0, equals));
  if (find_layer_field(range.dimension) == nullptr) {
    std::string names;
    for (const auto fields : {layer_fields(), part_fields()}) {
      for (const LayerField& field : fields) names += fmt::format(" {}", field.name);
    }
    return refuse(text, fmt::format("no such dimension; there are:{}", names));
  }
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = text.substr(equals + 1);;) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const auto number = parse_int(trim(rest.substr(0, colon)));
    if (!number) return refuse(text, "FIRST, LAST and STEP are whole numbers");
    numbers.push_back(*number);
    if (colon == rest.size()) break;
    rest.remove_prefix(colon + 1);
  }
  if (numbers.size() < 2 || numbers.size() > 3) return refuse(text, "expected FIELD=FIRST:LAST:STEP");
  range.first = numbers[0];
  range.last = numbers[1];
  range.step = numbers.size() == 3 ? numbers[2] : 1;
  if (range.step < 1) return refuse(text, "STEP must be at least 1");
  if (range.first < 1 || range.last < range.first) return refuse(text, "must be 1 <= FIRST <= LAST");
  if ((range.last - range.first) / range.step >= kMaxPoints) return refuse(text, "more than 100,000 points");
  return {range, {}};
}

Parsed<Sweep> sweep(const Predictor& predictor, const Layer& base, const SweepRange& range,
                    const std::function<void(std::size_t done, std::size_t all)>& progress) {
  const LayerField* field = find_layer_field(range.dimension);
  if (field == nullptr) return failed<Sweep>(refuse(range.dimension, "no such dimension").diagnostics[0]);
  if (follows(base, *field)) {
    const bool experts = field->member == &Layer::ffn_dim;
    return failed<Sweep>(
        refuse(range.dimension, experts ? "of a layer with experts it follows from them; sweep moe_ffn_dim"
                                        : "of latent attention it follows from the ranks")
            .diagnostics[0]);
  }
  Sweep result{range, base, {}, 0};
  Diagnostics first_refusal;
  KernelMemory memory;
  for (std::int64_t value = range.first;; value += range.step) {
    Layer layer = base;
    layer.*field->member = value;
    settle(layer);
    Diagnostics wrong = validate(layer);
    if (auto reason = wrong.empty() ? unsupported(predictor, layer) : std::nullopt) {
      wrong.push_back(std::move(*reason));
    }
    if (wrong.empty()) {
      SweepPoint point{value, predict(predictor, layer, &memory), {}, {}, {}};
      if (tiles(*field)) point.tile = tile_penalty(field->name, value);
      if (!result.points.empty()) {
        const double before = result.points.back().prediction.total_ms;
        point.step_pct = (point.prediction.total_ms / before - 1.0) * 100.0;
      }
      result.points.push_back(std::move(point));
    } else {
      ++result.values_refused;
      if (first_refusal.empty()) first_refusal = std::move(wrong);
    }
    if (progress)
      progress(static_cast<std::size_t>((value - range.first) / range.step) + 1,
               static_cast<std::size_t>((range.last - range.first) / range.step) + 1);
    if (value > range.last - range.step) break;
  }
  if (result.points.empty()) return {std::nullopt, std::move(first_refusal)};
  add_excess(result.points);
  return {std::move(result), {}};
}

}  // namespace plumbline
