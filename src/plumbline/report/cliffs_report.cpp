// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/cliffs_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

Json cause_json(CliffCause cause) {
  return cause == CliffCause::none ? Json(nullptr) : Json(std::string(to_string(cause)));
}

Json name_json(const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); }

std::string signed_pct(double value) {
  return fmt::format("{}{} %", value > 0 ? "+" : "", format_fixed(value, 1));
}

std::string cause_text(CliffCause cause) {
  return cause == CliffCause::none ? "–" : std::string(to_string(cause));
}

/// "tile-switch: 64x64, 256x128 at 4096": this size's tile, and that of the size which says what is fair.
std::string reason_text(const CliffReason& reason) {
  if (reason.cause != CliffCause::tile_switch) return cause_text(reason.cause);
  return fmt::format("tile-switch: {}, {} at {}", tile_of(reason.kernel), tile_of(reason.beside_kernel),
                     reason.beside);
}

std::string band_text(const SizeCost& size) {
  return fmt::format("{} - {}", format_fixed(size.low_ms, 4), format_fixed(size.high_ms, 4));
}

std::string over_text(const SizeCost& size) {
  return size.reason.cause == CliffCause::none || size.over_pct < 0.05 ? "–" : signed_pct(size.over_pct);
}

std::string measured_text(const SizeCost& size) {
  return size.measured_ms ? format_fixed(*size.measured_ms, 4) : "–";
}

/// What the causes that occur mean, for who reads them the first time.
std::string legend(const std::vector<DimensionCliffs>& dimensions) {
  constexpr std::array<std::pair<CliffCause, std::string_view>, 6> meanings{
      {{CliffCause::alignment,
        "a GEMM's width is not a multiple of 8 elements: no 16-byte loads, slow kernels"},
       {CliffCause::tile_switch,
        "the library was recorded to run a kernel of another tile than at the size named"},
       {CliffCause::wave, "a few more tiles than the SMs hold start another wave"},
       {CliffCause::tile, "more of the tiles is padding"},
       {CliffCause::kernel,
        "measured so, and neither alignment, wave nor tile explains it: another kernel, "
        "of the same tile or of a name that was not recorded"},
       {CliffCause::head_width,
        "attention kernels are not built for this head width: it is padded or refused"}}};
  std::string out;
  for (const auto& [cause, meaning] : meanings) {
    const auto has = [cause = cause](const SizeCost& size) { return size.reason.cause == cause; };
    const bool occurs = std::any_of(dimensions.begin(), dimensions.end(), [&](const DimensionCliffs& d) {
      return has(d) || std::any_of(d.neighbours.begin(), d.neighbours.end(), has);
    });
    if (occurs) out += fmt::format("{}: {}\n", to_string(cause), meaning);
  }
  return out;
}

std::string neighbours_text(const DimensionCliffs& d, const Look& look) {
  const bool measured =
      d.measured_ms || std::any_of(d.neighbours.begin(), d.neighbours.end(),
                                   [](const Neighbour& n) { return n.measured_ms.has_value(); });
  const bool named = !d.kernel.empty() || std::any_of(d.neighbours.begin(), d.neighbours.end(),
                                                      [](const Neighbour& n) { return !n.kernel.empty(); });
  TextTable table;
  table.columns = {{d.dimension, Align::right}, {"ms", Align::right},
                   {"band ms", Align::right},   {"time", Align::right},
                   {"size", Align::right},      {"over its work", Align::right},
                   {"slow because of"},         {"from"}};
  if (named) table.columns.push_back({"tile"});
  if (measured) table.columns.push_back({"measured ms", Align::right});
  const auto add = [&](const SizeCost& size, std::string time, std::string change, Style style) {
    table.rows.push_back({{std::to_string(size.value), style},
                          {format_fixed(size.ms, 4), style},
                          band_text(size),
                          std::move(time),
                          std::move(change),
                          over_text(size),
                          reason_text(size.reason),
                          std::string(to_string(size.provenance))});
    if (named) table.rows.back().push_back(size.kernel.empty() ? "–" : tile_of(size.kernel));
    if (measured) table.rows.back().push_back(measured_text(size));
  };
  bool own = false;
  for (const Neighbour& n : d.neighbours) {
    if (!own && n.value > d.value) add(d, "asked", "", Style::bold);
    own |= n.value > d.value;
    add(n, signed_pct(n.change_pct), signed_pct(n.work_change_pct), Style::plain);
  }
  if (!own) add(d, "asked", "", Style::bold);
  return render_text(table, look);
}

Json size_json(const SizeCost& size) {
  const bool slow = size.reason.beside > 0;
  return {{"value", size.value},
          {"ms", size.ms},
          {"low_ms", size.low_ms},
          {"high_ms", size.high_ms},
          {"provenance", to_string(size.provenance)},
          {"measured_ms", size.measured_ms ? Json(*size.measured_ms) : Json(nullptr)},
          {"kernel", name_json(size.kernel)},
          {"cause", cause_json(size.reason.cause)},
          {"over_pct", size.over_pct},
          {"beside", slow ? Json(size.reason.beside) : Json(nullptr)},
          {"slow_kernel", name_json(size.reason.kernel)},
          {"beside_kernel", name_json(size.reason.beside_kernel)}};
}

}  // namespace

std::string cliffs_text(const std::vector<DimensionCliffs>& dimensions, const Look& look) {
  TextTable summary;
  summary.columns = {{"dimension"},        {"value", Align::right},         {"ms", Align::right},
                     {"slow because of"},  {"over its work", Align::right}, {"better", Align::right},
                     {"ms", Align::right}, {"saves", Align::right}};
  for (const DimensionCliffs& d : dimensions) {
    const bool better = d.better != d.value;
    const bool slow = d.reason.cause != CliffCause::none;
    summary.rows.push_back({d.dimension,
                            std::to_string(d.value),
                            format_fixed(d.ms, 4),
                            {reason_text(d.reason), slow ? Style::warn : Style::plain},
                            over_text(d),
                            better ? std::to_string(d.better) : "–",
                            better ? format_fixed(d.better_ms, 4) : "–",
                            better ? Cell(format_fixed(d.saving_pct, 1) + " %", Style::good) : Cell("–")});
  }
  std::string out = render_text(summary, look) + legend(dimensions);
  for (const DimensionCliffs& d : dimensions) out += "\n" + neighbours_text(d, look);
  return out;
}

Json cliffs_json(const std::vector<DimensionCliffs>& dimensions) {
  Json out = Json::array();
  for (const DimensionCliffs& d : dimensions) {
    Json neighbours = Json::array();
    for (const Neighbour& n : d.neighbours) {
      Json one = size_json(n);
      one["change_pct"] = n.change_pct;
      one["work_change_pct"] = n.work_change_pct;
      neighbours.push_back(std::move(one));
    }
    Json one = size_json(d);
    one["dimension"] = d.dimension;
    one["better"] = d.better;
    one["better_ms"] = d.better_ms;
    one["saving_pct"] = d.saving_pct;
    one["neighbours"] = std::move(neighbours);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace plumbline
