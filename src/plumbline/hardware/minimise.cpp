// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/minimise.h"

#include <algorithm>
#include <numeric>

namespace plumbline {
namespace {

struct Vertex {
  std::vector<double> at;
  double value = 0;
};

/// Points on the line from the worst vertex through the others' centre: centre + t·(centre − worst).
std::vector<double> along(const std::vector<double>& centre, const std::vector<double>& worst, double t) {
  std::vector<double> at(centre.size());
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = centre[i] + t * (centre[i] - worst[i]);
  return at;
}

std::vector<double> one_run(const std::function<double(std::span<const double>)>& function,
                            const std::vector<double>& start, const std::vector<double>& step,
                            int evaluations) {
  const std::size_t n = start.size();
  std::vector<Vertex> simplex(n + 1);
  for (std::size_t i = 0; i <= n; ++i) {
    simplex[i].at = start;
    if (i > 0) simplex[i].at[i - 1] += step[i - 1];
    simplex[i].value = function(simplex[i].at);
  }
  int used = static_cast<int>(n) + 1;
  const auto by_value = [](const Vertex& a, const Vertex& b) { return a.value < b.value; };
  while (used < evaluations) {
    std::stable_sort(simplex.begin(), simplex.end(), by_value);
    Vertex& worst = simplex[n];
    std::vector<double> centre(n, 0.0);
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t i = 0; i < n; ++i) centre[i] += simplex[v].at[i] / static_cast<double>(n);
    }
    const auto at = [&](double t) {
      Vertex vertex{along(centre, worst.at, t), 0};
      vertex.value = function(vertex.at);
      ++used;
      return vertex;
    };
    Vertex reflected = at(1);
    if (reflected.value < simplex[0].value) {
      Vertex expanded = at(2);
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
      continue;
    }
    if (reflected.value < simplex[n - 1].value) {
      worst = std::move(reflected);
      continue;
    }
    Vertex inside = reflected.value < worst.value ? at(0.5) : at(-0.5);
    if (inside.value < std::min(reflected.value, worst.value)) {
      worst = std::move(inside);
      continue;
    }
    for (std::size_t v = 1; v <= n; ++v) {  // shrink towards the best
      for (std::size_t i = 0; i < n; ++i) simplex[v].at[i] = 0.5 * (simplex[v].at[i] + simplex[0].at[i]);
      simplex[v].value = function(simplex[v].at);
      ++used;
    }
  }
  return std::min_element(simplex.begin(), simplex.end(), by_value)->at;
}

}  // namespace

std::vector<double> minimise(const std::function<double(std::span<const double>)>& function,
                             std::vector<double> start, const std::vector<double>& step, int evaluations) {
  std::vector<double> free_start, free_step, half_step;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (step[i] == 0) continue;
    free_start.push_back(start[i]);
    free_step.push_back(step[i]);
    half_step.push_back(0.5 * step[i]);
  }
  if (free_start.empty()) return start;
  const auto whole = [&](std::span<const double> at) {
    std::vector<double> all = start;
    for (std::size_t i = 0, next = 0; i < all.size(); ++i) {
      if (step[i] != 0) all[i] = at[next++];
    }
    return all;
  };
  const auto reduced = [&](std::span<const double> at) { return function(whole(at)); };
  const std::vector<double> best = one_run(reduced, free_start, free_step, evaluations / 2);
  return whole(one_run(reduced, best, half_step, evaluations - evaluations / 2));
}

}  // namespace plumbline
