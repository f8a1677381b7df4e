// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/student_t.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace plumbline {
namespace {

constexpr double kNormal =
    1e7;  // from so many degrees of freedom on nothing differs from the normal distribution

/// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto not_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double product = d;
  for (int m = 1; m < 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    product *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    product *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return product;
}

/// The regularised incomplete beta function of x; `rest` is 1 - x, which may be too small to be taken off 1.
double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, rest) / b;
}

double digamma(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double i = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - i * (1.0 / 12 - i * (1.0 / 120 - i * (1.0 / 252 - i / 240)));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / (x * x);
  const double i = 1 / (x * x);
  return sum + 1 / x + 0.5 * i + i / x * (1.0 / 6 - i * (1.0 / 30 - i * (1.0 / 42 - i / 30)));
}

/// The x whose trigamma is y; infinite where y is 0 or less.
double trigamma_inverse(double y) {
  if (y <= 0) return std::numeric_limits<double>::infinity();
  double low = 1e-6, high = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > y ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

double student_t_two_sided(double t, double freedom) {
  if (freedom > kNormal) return std::erfc(std::abs(t) / std::sqrt(2.0));
  const double square = t * t;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square));
}

double student_t_upper(double tail, double freedom) {
  double low = 0, high = 1;
  while (student_t_two_sided(high, freedom) / 2 > tail && high < 1e300) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (student_t_two_sided(middle, freedom) / 2 > tail ? low : high) = middle;
  }
  return high;
}

std::vector<Variance> moderated(std::span<const Variance> variances, double floor) {
  // log s² has the mean log σ² + digamma(d/2) - log(d/2) and the variance trigamma(d/2), beside what the σ²
  // differ by.
  std::vector<double> centred;
  double own = 0, together = 0;
  for (const Variance& v : variances) {
    if (v.freedom <= 0) continue;
    const double half = v.freedom / 2;
    centred.push_back(std::log(std::max(v.value, floor)) - digamma(half) + std::log(half));
    own += trigamma(half);
    together += v.freedom;
  }
  if (centred.empty()) return {};
  const auto n = static_cast<double>(centred.size());
  const double mean = std::accumulate(centred.begin(), centred.end(), 0.0) / n;
  double spread = 0;
  for (const double e : centred) spread += (e - mean) * (e - mean);
  // One alone says nothing of how they differ: as if they differed by a factor of two either way.
  const double differ = n > 1 ? spread / (n - 1) - own / n : std::log(2.0) * std::log(2.0);
  const double half = trigamma_inverse(differ);
  const double freedom = std::min(2 * half, 1e6);
  const double common =
      std::isfinite(half) ? std::exp(mean + digamma(half) - std::log(half)) : std::exp(mean);
  std::vector<Variance> out;
  for (const Variance& v : variances) {
    const double d = std::max(0.0, v.freedom);
    const double value = (freedom * common + d * (d > 0 ? v.value : 0.0)) / (freedom + d);
    out.push_back({std::max(value, floor), std::min(freedom + d, together)});
  }
  return out;
}

std::vector<bool> reject_at_rate(std::span<const double> p, double q) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p[order[i]] <= q * static_cast<double>(i + 1) / static_cast<double>(p.size())) rejected = i + 1;
  }
  std::vector<bool> out(p.size(), false);
  for (std::size_t i = 0; i < rejected; ++i) out[order[i]] = true;
  return out;
}

}  // namespace plumbline
