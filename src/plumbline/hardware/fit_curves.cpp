// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/fit_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "plumbline/base/statistics.h"
#include "plumbline/base/symmetric_solve.h"

namespace plumbline {
namespace {

constexpr double kVariance = 0.09;    ///< of what the formula leaves, on log time
constexpr double kNoise = 0.1;        ///< of one measurement, on log time; larger errors count for less
constexpr double kBytesLength = 1.5;  ///< how alike elements of one and two bytes are

struct Point {
  std::array<double, 3> at{};
  double bytes = 0, gpus = 0, log_us = 0;
  std::int64_t message = 0;
  std::size_t row = 0;
};

struct Lengths {
  double bytes = 2, gpus = 1;
};

double likeness(const std::array<double, 3>& a, const std::array<double, 3>& b, const Lengths& lengths) {
  const double d = (a[0] - b[0]) / lengths.bytes, g = (a[1] - b[1]) / lengths.gpus,
               e = (a[2] - b[2]) / kBytesLength;
  return std::exp(-0.5 * (d * d + g * g + e * e));
}

double formula(const Curve& curve, const Point& p) {
  return std::log(curve.t0_us + curve.us_per_byte * p.bytes * (p.gpus - 1) / p.gpus);
}

/// Launch and link by least absolute log error over a grid: two numbers, and outliers that must not pull.
void fit_formula(const std::vector<Point>& points, Curve& curve) {
  double low = 1e18;
  for (const Point& p : points) low = std::min(low, p.log_us);
  double least = 1e18;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 40; ++j) {
      Curve trial = curve;
      trial.t0_us = std::exp(low - 0.2 + 1.2 * i / 7.0);
      trial.us_per_byte = std::exp(std::log(1e-7) + std::log(1e4) * j / 39.0);
      double sum = 0;
      for (const Point& p : points) sum += std::abs(formula(trial, p) - p.log_us);
      if (sum >= least) continue;
      least = sum;
      curve.t0_us = trial.t0_us;
      curve.us_per_byte = trial.us_per_byte;
    }
  }
}

void fit_curve(const std::vector<Point>& points, const Lengths& lengths, Curve& curve) {
  fit_formula(points, curve);
  const std::size_t n = points.size();
  std::vector<double> left(n), trust(n, 1.0), weights;
  for (std::size_t i = 0; i < n; ++i) left[i] = points[i].log_us - formula(curve, points[i]);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::vector<double>> a(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] = kVariance * likeness(points[i].at, points[j].at, lengths);
      a[i][i] += kNoise * kNoise / trust[i];
    }
    weights = solve_symmetric(std::move(a), left);
    for (std::size_t i = 0; i < n; ++i) {
      double fit = 0;
      for (std::size_t j = 0; j < n; ++j)
        fit += kVariance * likeness(points[i].at, points[j].at, lengths) * weights[j];
      const double error = (left[i] - fit) / kNoise;
      trust[i] = 1 / (1 + error * error);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    curve.points.push_back({{static_cast<float>(points[i].at[0]), static_cast<float>(points[i].at[1]),
                             static_cast<float>(points[i].at[2])},
                            static_cast<float>(kVariance * weights[i])});
  }
}

double predict(const Curve& curve, const Point& p, const Lengths& lengths) {
  double log_us = formula(curve, p);
  for (const CurvePoint& point : curve.points) {
    const std::array<double, 3> at{static_cast<double>(point.at[0]), static_cast<double>(point.at[1]),
                                   static_cast<double>(point.at[2])};
    log_us += static_cast<double>(point.weight) * likeness(p.at, at, lengths);
  }
  return log_us;
}

using Groups = std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Point>>;

/// What each row is predicted to be when its message is left out, on log time.
std::vector<double> left_out(const Groups& groups, std::size_t rows, const Lengths& lengths) {
  std::vector<double> out(rows);
  for (const auto& [key, points] : groups) {
    std::set<std::int64_t> messages;
    for (const Point& p : points) messages.insert(p.message);
    for (const std::int64_t message : messages) {
      std::vector<Point> seen;
      for (const Point& p : points) {
        if (p.message != message) seen.push_back(p);
      }
      if (seen.empty()) continue;
      Curve curve;
      fit_curve(seen, lengths, curve);
      for (const Point& p : points) {
        if (p.message == message) out[p.row] = predict(curve, p, lengths);
      }
    }
  }
  return out;
}

}  // namespace

std::shared_ptr<Operation> fit_collective(const std::vector<const Measured<KernelRequest>*>& rows,
                                          std::vector<std::string> kernels, std::vector<Judged>& judged) {
  auto operation = std::make_shared<Operation>();
  operation->key = {OperationKind::collective, {}};
  if (kernels.empty()) kernels.push_back("unnamed");
  operation->kernels = kernels;
  operation->constants = family_of(OperationKind::collective).starts.front();
  Groups groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& s = std::get<CollectiveShape>(rows[i]->shape.shape);
    const auto at = std::find(kernels.begin(), kernels.end(), rows[i]->shape.kernel);
    const auto kernel = static_cast<std::int32_t>(at == kernels.end() ? 0 : at - kernels.begin());
    Point p;
    p.gpus = static_cast<double>(s.gpus);
    p.bytes = static_cast<double>(s.elements) * static_cast<double>(s.element_bytes);
    p.at = {std::log2(p.bytes), std::log2(p.gpus), static_cast<double>(s.element_bytes)};
    p.log_us = std::log(rows[i]->us);
    p.message = s.elements;
    p.row = i;
    groups[{static_cast<std::int32_t>(s.op), kernel}].push_back(p);
  }
  Lengths best;
  double least = 1e18;
  std::vector<double> predicted;
  for (const Lengths lengths : {Lengths{2, 1}, Lengths{3, 1}, Lengths{2, 0.4}, Lengths{4, 0.4}}) {
    std::vector<double> trial = left_out(groups, rows.size(), lengths);
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) sum += std::abs(trial[i] - std::log(rows[i]->us));
    if (sum >= least) continue;
    least = sum;
    best = lengths;
    predicted = std::move(trial);
  }
  auto trees = std::make_shared<OperationTrees>();
  trees->length = best.bytes;
  trees->gpus_length = best.gpus;
  judged.resize(rows.size());
  for (const auto& [key, points] : groups) {
    Curve curve;
    curve.op = key.first;
    curve.kernel = key.second;
    fit_curve(points, best, curve);
    std::vector<double> errors;
    for (const Point& p : points) errors.push_back(std::abs(p.log_us - predicted[p.row]));
    curve.spread = std::clamp(*quantile(errors, 0.9), 0.005, 1.0);
    for (const Point& p : points) {
      const double us = std::exp(predicted[p.row]);
      judged[p.row] = {us, rows[p.row]->us, us * std::exp(-curve.spread), us * std::exp(curve.spread), 0};
    }
    trees->curves.push_back(std::move(curve));
  }
  operation->low = operation->high = family_of(OperationKind::collective).domain(rows[0]->shape.shape);
  std::vector<double> unit;
  for (const auto* row : rows) {
    const auto at = family_of(OperationKind::collective).domain(row->shape.shape);
    for (std::size_t d = 0; d < at.size(); ++d) {
      operation->low[d] = std::min(operation->low[d], at[d]);
      operation->high[d] = std::max(operation->high[d], at[d]);
    }
  }
  operation->trees = std::move(trees);
  operation->band = 1;
  operation->rows = static_cast<std::int64_t>(rows.size());
  operation->errors = accuracy(judged);
  operation->errors.kendall_tau.reset();
  return operation;
}

}  // namespace plumbline
