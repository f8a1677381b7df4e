// SPDX-License-Identifier: Apache-2.0
// Sentences that the results say, never a constant.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "plumbline/base/numbers.h"
#include "plumbline/report/takeaways.h"
#include "plumbline/report/window_note.h"

namespace plumbline {
namespace {

std::string of_all(std::size_t count, std::size_t all) {
  return count == all ? (all == 1 ? "the one layer" : fmt::format("all {} layers", all))
                      : fmt::format("{} of {} layers", count, all);
}

/// "geglu_mlp takes the most time in all 9 layers (61–78 % of a layer)".
void add_bottlenecks(const GpuReport& gpu, std::vector<std::string>& out) {
  struct Group {
    std::size_t count = 0;
    double least = 1;
    double most = 0;
  };
  std::map<std::string_view, Group> groups;
  for (const Prediction& p : gpu.predictions) {
    const KernelTime& kernel = p.kernels()[p.bottleneck];
    const double share = kernel.ms / p.total_ms;
    Group& group = groups[kernel.name];
    ++group.count;
    group.least = std::min(group.least, share);
    group.most = std::max(group.most, share);
  }
  for (const auto& [name, group] : groups) {
    out.push_back(fmt::format("{} takes the most time in {} ({}-{} % of it)", name,
                              of_all(group.count, gpu.predictions.size()), format_fixed(group.least * 100, 0),
                              format_fixed(group.most * 100, 0)));
  }
}

void add_best(const ArchReport& report, const GpuReport& gpu, std::vector<std::string>& out) {
  if (gpu.rankings[0].empty()) return;  // no layer passes the preset
  const std::size_t efficient = gpu.rankings[0].front();
  const std::size_t fastest = gpu.rankings[1].front();
  out.push_back(fmt::format("fastest: {} ({} ms); least time per hidden x ffn million: {} ({} ms)",
                            report.layers[fastest].name, format_fixed(gpu.predictions[fastest].total_ms, 3),
                            report.layers[efficient].name,
                            format_fixed(gpu.predictions[efficient].ms_per_mparam_proxy, 4)));
}

/// The size that costs the most beyond growing in proportion.
void add_cliffs(const GpuReport& gpu, std::vector<std::string>& out) {
  for (const Sweep& sweep : gpu.cliffs) {
    const SweepPoint* worst = nullptr;
    for (const SweepPoint& point : sweep.points) {
      if (point.excess_pct && (worst == nullptr || *point.excess_pct > *worst->excess_pct)) worst = &point;
    }
    if (worst == nullptr) continue;
    if (*worst->excess_pct < 0.05) {
      out.push_back(fmt::format("{} {}..{}: no size costs more than its width", sweep.range.dimension,
                                sweep.range.first, sweep.range.last));
      continue;
    }
    std::string line =
        fmt::format("{} {}..{}: {} costs the most beyond its width, +{} %", sweep.range.dimension,
                    sweep.range.first, sweep.range.last, worst->value, format_fixed(*worst->excess_pct, 1));
    if (worst->tile) {
      line += fmt::format(" (tile efficiency {} %)", format_fixed(worst->tile->efficiency * 100, 1));
    }
    out.push_back(std::move(line));
  }
}

void add_waste(const ArchReport& report, const GpuReport& gpu, std::vector<std::string>& out) {
  std::size_t wasteful = 0;
  const TilePenalty* worst = nullptr;
  std::size_t where = 0;
  for (std::size_t i = 0; i < gpu.predictions.size(); ++i) {
    bool any = false;
    for (const TilePenalty& tile : gpu.predictions[i].tile_penalties) {
      any = any || !tile.aligned_128;
      if (!tile.aligned_128 && (worst == nullptr || tile.wasted_work_pct > worst->wasted_work_pct)) {
        worst = &tile;
        where = i;
      }
    }
    wasteful += any ? 1 : 0;
  }
  if (worst == nullptr) {
    out.push_back(fmt::format("every dimension of {} is a multiple of 128",
                              of_all(gpu.predictions.size(), gpu.predictions.size())));
    return;
  }
  out.push_back(
      fmt::format("{} {} a dimension that is not a multiple of 128; the worst fit is {} {} of {} "
                  "({} % of its tile work wasted)",
                  of_all(wasteful, gpu.predictions.size()), wasteful == 1 ? "has" : "have", worst->dimension,
                  worst->value, report.layers[where].name, format_fixed(worst->wasted_work_pct, 0)));
}

}  // namespace

std::vector<std::string> takeaways(const ArchReport& report, const GpuReport& gpu) {
  std::vector<std::string> out;
  if (gpu.predictions.empty()) return out;
  add_bottlenecks(gpu, out);
  add_best(report, gpu, out);
  add_cliffs(gpu, out);
  add_waste(report, gpu, out);
  for (const Layer& layer : report.layers) {
    if (std::string note = window_note(gpu.predictor, layer); !note.empty()) out.push_back(std::move(note));
  }
  return out;
}

std::vector<std::string> agreement_takeaways(const ArchReport& report) {
  constexpr std::size_t kNamed = 6;
  std::vector<std::string> out;
  for (const Agreement& each : report.agreement) {
    if (!each.comparable) continue;  // the title says so
    if (each.moved.empty()) {
      out.push_back(fmt::format("{} and {} rank alike by {}", each.a, each.b, to_string(each.metric)));
      continue;
    }
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < std::min(kNamed, each.moved.size()); ++i) {
      names.push_back(report.layers[each.moved[i]].name);
    }
    out.push_back(fmt::format("{} and {} differ by {} in {} of {} pairs; {} change rank{}{}", each.a, each.b,
                              to_string(each.metric), each.discordant_pairs, each.pairs,
                              fmt::join(names, ", "), each.moved.size() > kNamed ? " and others" : "", ""));
  }
  return out;
}

}  // namespace plumbline
