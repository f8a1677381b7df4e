// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/operation_file.h"

#include <algorithm>
#include <cmath>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/raw_bytes.h"

namespace plumbline {
namespace {

constexpr std::string_view kMagic = "PLBOPER1\n";
constexpr std::uint64_t kMaxBytes = 4ULL << 20;
constexpr std::uint32_t kMaxCurves = 64, kMaxPoints = 4096;

void append_curves(const OperationTrees& trees, std::string& out) {
  append_raw(out, static_cast<std::uint32_t>(trees.curves.size()));
  append_raw(out, trees.length);
  append_raw(out, trees.gpus_length);
  for (const Curve& curve : trees.curves) {
    append_raw(out, curve.kernel);
    append_raw(out, curve.op);
    append_raw(out, curve.t0_us);
    append_raw(out, curve.us_per_byte);
    append_raw(out, curve.spread);
    append_raw(out, static_cast<std::uint32_t>(curve.points.size()));
    for (const CurvePoint& point : curve.points) {
      for (const float v : point.at) append_raw(out, v);
      append_raw(out, point.weight);
    }
  }
}

template <class T>
bool take_one(std::string_view& bytes, T& value) {
  std::vector<T> one;
  if (!take_raw(bytes, 1, one)) return false;
  value = one[0];
  return true;
}

bool take_curve(std::string_view& bytes, std::size_t kernels, Curve& curve) {
  std::uint32_t count = 0;
  if (!take_one(bytes, curve.kernel) || !take_one(bytes, curve.op) || !take_one(bytes, curve.t0_us) ||
      !take_one(bytes, curve.us_per_byte) || !take_one(bytes, curve.spread) || !take_one(bytes, count))
    return false;
  if (count > kMaxPoints || curve.kernel < 0 || static_cast<std::size_t>(curve.kernel) >= kernels)
    return false;
  if (!(curve.t0_us > 0) || !(curve.us_per_byte >= 0) || !std::isfinite(curve.spread)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<float> numbers;
    if (!take_raw(bytes, 4, numbers)) return false;
    if (std::any_of(numbers.begin(), numbers.end(), [](float v) { return !std::isfinite(v); })) return false;
    curve.points.push_back({{numbers[0], numbers[1], numbers[2]}, numbers[3]});
  }
  return true;
}

bool take_curves(std::string_view& bytes, std::size_t kernels, OperationTrees& trees) {
  std::uint32_t count = 0;
  if (!take_one(bytes, count) || !take_one(bytes, trees.length) || !take_one(bytes, trees.gpus_length))
    return false;
  if (count > kMaxCurves || !(trees.length > 0) || !(trees.gpus_length > 0)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    trees.curves.emplace_back();
    if (!take_curve(bytes, kernels, trees.curves.back())) return false;
  }
  return true;
}

}  // namespace

std::string operation_bytes(const Operation& operation) {
  std::string out(kMagic);
  const OperationTrees& trees = *operation.trees;
  append_forest(trees.residual, out);
  append_forest(trees.spread, out, same_thresholds(trees.residual, trees.spread) ? &trees.residual : nullptr);
  for (const Forest& forest : trees.choice) append_forest(forest, out);
  append_curves(trees, out);
  return out;
}

Parsed<OperationTrees> read_operation(const std::string& path, const std::string& sha256,
                                      const OperationKey& key, std::size_t kernels) {
  const auto content = read_file(path, kMaxBytes);
  if (!content.ok()) return {std::nullopt, content.diagnostics};
  const auto bad = [&](std::string_view why) {
    return failed<OperationTrees>(diagnose("residuals-invalid", std::string(why), {path, 0, 0}));
  };
  if (sha256_hex(*content.value) != sha256)
    return bad("not the residual file that the hardware file names (SHA-256 differs)");
  std::string_view bytes = *content.value;
  if (!bytes.starts_with(kMagic)) return bad("this is not a residual file of an operation");
  bytes.remove_prefix(kMagic.size());
  OperationTrees trees;
  const bool curves = key.kind == OperationKind::collective;
  const std::size_t features = curves ? 0 : family_of(key.kind).features + 1;
  const auto take = [&](Forest& forest, const Forest* like) {
    auto taken = take_forest(bytes, path, like);
    if (!taken.ok() || taken.value->features() != features) return false;
    forest = std::move(*taken.value);
    prepare(forest);
    return true;
  };
  if (!take(trees.residual, nullptr) || !take(trees.spread, curves ? nullptr : &trees.residual))
    return bad("the residual trees are damaged, cut short, or fitted to other features");
  for (std::size_t i = 0; !curves && kernels > 1 && i < kernels; ++i) {
    trees.choice.emplace_back();
    if (!take(trees.choice.back(), nullptr)) return bad("the trees that choose a kernel are damaged");
  }
  if (!take_curves(bytes, kernels, trees)) return bad("the measured curves are damaged");
  if (!bytes.empty()) return bad("there are more bytes than the file should hold");
  return {std::move(trees), {}};
}

}  // namespace plumbline
