// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/text.h"
#include "plumbline/evidence/confirmation.h"

namespace plumbline {
namespace {

std::optional<double> both(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(std::hypot(*a, *b)) : std::nullopt;
}

void hold(std::vector<std::string>& apart, const char* what, const std::string& now,
          const std::string& before) {
  if (now == before && !now.empty()) return;
  const auto shown = [](const std::string& text) { return text.empty() ? "not stated" : printable(text); };
  apart.push_back(fmt::format("{}: {} and {}", what, shown(before), shown(now)));
}

}  // namespace

std::string harness_words(const EvalReport& eval) {
  const HarnessFacts& harness = eval.harness;
  return harness.version.empty() ? harness.name : harness.name + " " + harness.version;
}

std::optional<double> Rerun::change() const {
  if (!comparable() || !before || !now) return {};
  return *now / *before - 1;
}

std::optional<bool> Rerun::moved() const {
  const auto changed = change();
  return changed && noise ? std::optional(std::abs(*changed) > *noise) : std::nullopt;
}

Rerun compare_runs(const EvalReport& now, const EvalReport& before, std::string run) {
  Rerun result;
  result.run = std::move(run);
  hold(result.apart, "harness", harness_words(now), harness_words(before));
  hold(result.apart, "GPU", now.device, before.device);
  hold(result.apart, "driver", now.driver, before.driver);
  hold(result.apart, "window", now.window, before.window);
  result.before = raw_ratio(before);
  result.now = raw_ratio(now);
  result.noise = both(mean_noise(before), mean_noise(now));
  for (const WorkloadReading& w : now.workloads) {
    const auto then = std::find_if(before.workloads.begin(), before.workloads.end(),
                                   [&](const WorkloadReading& b) { return b.name == w.name; });
    if (then == before.workloads.end()) {
      result.apart.push_back(fmt::format("workload '{}' is new", printable(w.name)));
      continue;
    }
    if (then->shape != w.shape)
      result.apart.push_back(fmt::format("workload '{}' has another shape", printable(w.name)));
    result.workloads.push_back({w.name, ratio_of(*then, before.timed), ratio_of(w, now.timed),
                                both(ratio_noise(*then), ratio_noise(w))});
  }
  for (const WorkloadReading& b : before.workloads) {
    const bool there = std::any_of(now.workloads.begin(), now.workloads.end(),
                                   [&](const WorkloadReading& w) { return w.name == b.name; });
    if (!there) result.apart.push_back(fmt::format("workload '{}' is gone", printable(b.name)));
  }
  return result;
}

}  // namespace plumbline
