// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "plumbline/base/statistics.h"

namespace plumbline {
namespace {

int sign(double v) { return (v > 0) - (v < 0); }

void judge_pairs(std::span<const Judged> rows, Accuracy& out) {
  std::map<std::uint64_t, std::vector<const Judged*>> groups;
  for (const Judged& row : rows) {
    if (row.group != 0) groups[row.group].push_back(&row);
  }
  double pairs = 0, right = 0;
  for (const auto& [group, members] : groups) {
    for (std::size_t a = 0; a < members.size(); ++a) {
      for (std::size_t b = a + 1; b < members.size(); ++b) {
        const double x = members[a]->measured, y = members[b]->measured;
        if (std::max(x, y) <= 1.05 * std::min(x, y)) continue;
        ++pairs;
        right += sign(x - y) == sign(members[a]->predicted - members[b]->predicted);
      }
    }
  }
  if (pairs == 0) return;
  out.pairs = pairs;
  out.pair_pct = 100 * right / pairs;
}

void order_figures(std::span<const Judged> rows, Accuracy& out) {
  if (rows.size() < 2 || rows.size() > 5000) return;
  double score = 0, measured_ties = 0, predicted_ties = 0;
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      const int x = sign(rows[a].measured - rows[b].measured);
      const int y = sign(rows[a].predicted - rows[b].predicted);
      score += x * y;
      measured_ties += x == 0;
      predicted_ties += y == 0;
    }
  }
  const double n = static_cast<double>(rows.size());
  const double all = n * (n - 1) / 2;
  const double scale = std::sqrt((all - measured_ties) * (all - predicted_ties));
  if (scale > 0) out.kendall_tau = score / scale;
}

}  // namespace

Accuracy accuracy(std::span<const Judged> rows) {
  Accuracy out;
  out.n = static_cast<double>(rows.size());
  if (rows.empty()) return out;
  std::vector<double> errors;
  double bias = 0, banded = 0, covered = 0;
  for (const Judged& row : rows) {
    const double error = 100 * (row.predicted / row.measured - 1);
    errors.push_back(std::abs(error));
    bias += error;
    if (row.high <= 0) continue;
    ++banded;
    covered += row.low <= row.measured && row.measured <= row.high;
  }
  double sum = 0;
  for (const double e : errors) sum += e;
  const double n = static_cast<double>(rows.size());
  out.mape_pct = sum / n;
  out.median_pct = *median(errors);
  out.p90_pct = *quantile(errors, 0.9);
  out.bias_pct = bias / n;
  if (banded > 0) out.coverage_pct = 100 * covered / banded;
  judge_pairs(rows, out);
  order_figures(rows, out);
  return out;
}

double site_budget_pct(std::span<const Judged> rows, std::span<const std::uint64_t> site) {
  constexpr std::size_t sites_drawn = 8, draws = 4000;
  std::map<std::uint64_t, std::pair<double, double>> sums;  // error, rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& [error, count] = sums[site[i]];
    error += std::abs(100 * (rows[i].predicted / rows[i].measured - 1));
    ++count;
  }
  std::vector<double> means, drawn;
  for (const auto& [key, sum] : sums) means.push_back(sum.first / sum.second);
  if (means.empty()) return 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    double sum = 0;
    for (std::uint64_t i = 0; i < sites_drawn; ++i)
      sum += means[counter_random(41, draw * sites_drawn + i) % means.size()];
    drawn.push_back(sum / sites_drawn);
  }
  return std::ceil(10 * *quantile(drawn, 0.99)) / 10;
}

}  // namespace plumbline
