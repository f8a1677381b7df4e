// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured_moe.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// Quantiles at which a power law is read: closer together where the loads are large.
constexpr std::size_t kQuantiles = 24;

/// Loads of a power law's experts, ascending, and the share of the experts that each stands for.
struct Loads {
  std::array<double, kQuantiles> load{}, share{};
  double mean = 0, variance = 0;
  double largest = 1;  ///< of all the experts
};

/// x between `least` and `most`, with density x^-alpha, at quantile u.
double power_quantile(double alpha, double least, double most, double u) {
  const double e = 1 - alpha;
  const double low = std::pow(least, e), top = std::pow(most, e);
  return std::pow((top - low) * u + low, 1 / e);
}

Loads power_loads(double alpha, double least, double most, double experts) {
  Loads out;
  double left = 0;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    // edges 1 − (1 − i/n)²: the last tenth of the experts has a third of the quantiles
    const double rest = 1 - static_cast<double>(i + 1) / kQuantiles;
    const double right = 1 - rest * rest;
    out.share[i] = right - left;
    out.load[i] = power_quantile(alpha, least, most, (left + right) / 2);
    out.mean += out.share[i] * out.load[i];
    left = right;
  }
  for (std::size_t i = 0; i < kQuantiles; ++i)
    out.variance += out.share[i] * (out.load[i] - out.mean) * (out.load[i] - out.mean);
  out.largest = power_quantile(alpha, least, most, 1 - 1 / (experts + 1));
  return out;
}

double alpha_of(Routing routing) { return routing == Routing::power_law_1_01 ? 1.01 : 1.2; }

double tiles_of(double rows, double block) { return std::ceil(rows / block - 1e-9); }

/// About the largest of n draws of a standard normal: 0, .56, 1.03, 1.42, 1.77, 2.07, … for 1, 2, 4, 8,
/// 16, 32.
double largest_normal(double n) { return n <= 1 ? 0 : std::sqrt(2 * std::log(n)) - 0.62 / std::pow(n, 0.15); }

/// Adds `count` experts of `rows` rows. Counts were rounded to whole rows when the routing was drawn: below a
/// half there is likely none.
void add_experts(ExpertLoad& load, double rows, double count) {
  const double present = std::clamp((rows - 0.25) / 0.5, 0.0, 1.0);
  const double whole = std::max(rows, 1.0);
  load.active += count * present;
  if (present > 0) load.max_rows = std::max(load.max_rows, whole);
  for (std::size_t b = 0; b < ExpertLoad::kBlocks; ++b)
    load.tiles[b] += count * present * tiles_of(whole, ExpertLoad::kRows[b]);
}

}  // namespace

bool known_without_gate(const MoeShape& s) {
  using Sizes = std::array<std::int64_t, 4>;
  constexpr std::array<Sizes, 3> models{{{2688, 1856, 6, 128}, {1024, 2688, 22, 512}, {2048, 5120, 22, 512}}};
  return std::find(models.begin(), models.end(), Sizes{s.hidden, s.inter, s.topk, s.experts}) != models.end();
}

ExpertLoad expert_load(const MoeShape& s) {
  const auto tokens = static_cast<double>(s.tokens), topk = static_cast<double>(s.topk);
  const auto experts = static_cast<double>(s.experts), ranks = static_cast<double>(s.ep);
  const double local = std::max(1.0, experts / ranks);
  const double pairs = tokens * topk;
  ExpertLoad out;
  if (s.routing == Routing::balanced) {  // few tokens take different experts, spread over the ranks
    const double each = pairs / experts;
    out.rows = each * local;
    out.active = std::min(each, 1.0) * local;
    out.max_rows = std::max(1.0, each);
    for (std::size_t b = 0; b < ExpertLoad::kBlocks; ++b)
      out.tiles[b] = out.active * tiles_of(out.max_rows, ExpertLoad::kRows[b]);
    return out;
  }
  // The public tables draw from [1, 0.8 tokens], or [0.01, 2] where there are more experts than pairs, and
  // measure the rank that got most.
  const bool many = pairs > experts;
  const double most = many ? std::max(0.8 * tokens, 1.01) : 2;
  const Loads loads = power_loads(alpha_of(s.routing), many ? 1 : 0.01, most, experts);
  const double total = loads.mean * experts;
  const double by_one = loads.largest + (local - 1) * loads.mean;
  const double by_many = local * loads.mean + std::sqrt(local * loads.variance) * largest_normal(ranks);
  const double share = ranks > 1 ? std::min(1.0, std::max(by_one, by_many) / total) : 1.0;
  out.rows = std::max(share * pairs, 1e-3);
  const double busiest = std::min(loads.largest * pairs / total, out.rows);
  add_experts(out, busiest, 1);
  if (local > 1) {
    const double others = (out.rows - busiest) / (local - 1);
    for (std::size_t i = 0; i < kQuantiles; ++i)
      add_experts(out, loads.load[i] / loads.mean * others, loads.share[i] * (local - 1));
  }
  out.active = std::max(out.active, 1e-3);
  return out;
}

ExpertLoad expert_load(const GroupedGemmShape& s) {
  ExpertLoad out;
  out.rows = static_cast<double>(s.tokens) * static_cast<double>(s.topk);
  out.active = static_cast<double>(s.active);
  out.max_rows = static_cast<double>(s.max_rows);
  const double others = out.active > 1 ? std::max(1.0, (out.rows - out.max_rows) / (out.active - 1)) : 0;
  for (std::size_t b = 0; b < ExpertLoad::kBlocks; ++b) {
    out.tiles[b] = tiles_of(out.max_rows, ExpertLoad::kRows[b]) +
                   (out.active - 1) * tiles_of(others, ExpertLoad::kRows[b]);
  }
  return out;
}

namespace {

/// One rank's work in bytes and operations.
struct Work {
  double hidden, inter;  ///< of the rank
  double weights;        ///< bytes of the active experts
  double flops;
  double moved;      ///< bytes of rows: inputs, what lies between the products, outputs
  double pairs = 0;  ///< bytes of [tokens, topk, hidden]: rows of other ranks too
};

Work work_of(const MoeShape& s, const ExpertLoad& load) {
  const DtypeCost& cost = cost_of(s.dtype);
  Work w{};
  w.hidden = static_cast<double>(s.hidden);
  w.inter = std::max(1.0, static_cast<double>(s.inter) / static_cast<double>(s.tp));
  const double up = s.gated ? 2 : 1;
  w.weights = load.active * (up + 1) * w.hidden * w.inter * cost.weight_bytes;
  w.flops = 2 * (up + 1) * load.rows * w.hidden * w.inter;
  w.moved =
      load.rows * ((cost.activation_bytes + 2) * w.hidden + (2 * up + cost.activation_bytes + 2) * w.inter);
  w.pairs = static_cast<double>(s.tokens) * static_cast<double>(s.topk) * 2 * w.hidden;
  return w;
}

double rate_of(const Machine& machine, Dtype dtype) { return tensor_rate(machine, dtype); }

double joined(double a, double b, double p) {
  const double larger = std::max(a, b);
  return larger <= 0 ? 0 : larger * std::pow(1 + std::pow(std::min(a, b) / larger, p), 1 / p);
}

OperationAnalytic analytic_of(const Machine& machine, std::span<const double> c, const ExpertLoad& load,
                              const Work& w, double local, double flops_a_row, double rate) {
  OperationAnalytic out;
  out.launch_us = c[0] + c[6] * local * 0.01;
  out.memory_us = w.weights / (machine.bytes_per_us * c[1]);
  // rows that tiles pay for: between the rows there are and whole tiles of 128
  const double padded = (1 - c[4]) * load.rows + c[4] * 128 * load.tiles[3];
  out.tensor_us = std::max(padded, load.rows) * flops_a_row / (rate * c[3]);
  out.moved_us = (c[5] * w.moved + c[7] * w.pairs) / machine.bytes_per_us;
  out.us = out.launch_us + out.moved_us + joined(out.memory_us, out.tensor_us, c[2]);
  return out;
}

}  // namespace

OperationAnalytic moe_analytic(const Machine& machine, std::span<const double> c, const MoeShape& s) {
  const ExpertLoad load = expert_load(s);
  const Work w = work_of(s, load);
  const double local = std::max(1.0, static_cast<double>(s.experts) / static_cast<double>(s.ep));
  return analytic_of(machine, c, load, w, local, w.flops / load.rows, rate_of(machine, s.dtype));
}

/// Mostly ratios: with a dozen models in the rows, sizes by themselves would only name the model.
void moe_features(const Machine& machine, const OperationAnalytic& analytic, const MoeShape& s,
                  std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const ExpertLoad load = expert_load(s);
  const Work w = work_of(s, load);
  const double up_products = s.gated ? 2 : 1;
  const double local = std::max(1.0, static_cast<double>(s.experts) / static_cast<double>(s.ep));
  const double tensor = w.flops / rate_of(machine, s.dtype);
  const double memory = w.weights / machine.bytes_per_us;
  for (const double v : {analytic.us,
                         analytic.memory_us / analytic.us,
                         analytic.tensor_us / analytic.us,
                         analytic.moved_us / analytic.us,
                         analytic.launch_us / analytic.us,
                         load.rows / load.active,
                         load.max_rows,
                         load.max_rows * load.active / load.rows,
                         load.active,
                         local,
                         load.rows,
                         static_cast<double>(s.routing),
                         up_products,
                         w.inter,
                         w.hidden / w.inter,
                         w.pairs / machine.l2_bytes,
                         w.moved / machine.l2_bytes,
                         w.weights / machine.l2_bytes,
                         tensor / memory,
                         static_cast<double>(s.tokens),
                         static_cast<double>(s.topk),
                         static_cast<double>(s.ep),
                         w.pairs / (w.weights + w.moved),
                         std::fmod(w.inter, 128.0),
                         load.active / local}) {
    put(v);
  }
  for (std::size_t b = 0; b < ExpertLoad::kBlocks; ++b) {
    const double rows = ExpertLoad::kRows[b], tiles = std::max(load.tiles[b], 1e-3);
    const double up = tiles * ceil_div(up_products * w.inter, 128) / machine.sms;
    const double down = tiles * ceil_div(w.hidden, 128) / machine.sms;
    put(tiles * rows / load.rows);
    put(up);
    put(std::ceil(up) / up);
    put(down);
    put(std::ceil(down) / down);
    put((std::ceil(up) * w.hidden + std::ceil(down) * w.inter) * rows / analytic.us);
  }
}

// ---- one grouped GEMM

namespace {

/// Depth and width of one of the two products.
struct Grouped {
  double n, k;
};
Grouped sizes_of(const GroupedGemmShape& s) {
  const auto hidden = static_cast<double>(s.hidden), inter = static_cast<double>(s.inter);
  return s.down ? Grouped{hidden, inter} : Grouped{2 * inter, hidden};
}

Work work_of(const GroupedGemmShape& s, const ExpertLoad& load) {
  const auto [n, k] = sizes_of(s);
  const DtypeCost& cost = cost_of(s.dtype);
  Work w{};
  w.hidden = k;
  w.inter = n;
  w.weights = load.active * n * k * cost.weight_bytes;
  w.flops = 2 * load.rows * n * k;
  w.moved = load.rows * (cost.activation_bytes * k + 2 * n);
  return w;
}

}  // namespace

OperationAnalytic grouped_analytic(const Machine& machine, std::span<const double> c,
                                   const GroupedGemmShape& s) {
  const ExpertLoad load = expert_load(s);
  const Work w = work_of(s, load);
  return analytic_of(machine, c, load, w, static_cast<double>(s.experts), 2 * w.hidden * w.inter,
                     rate_of(machine, s.dtype));
}

void grouped_features(const Machine& machine, const OperationAnalytic& analytic, const GroupedGemmShape& s,
                      std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const ExpertLoad load = expert_load(s);
  const Work w = work_of(s, load);
  const double tensor = w.flops / rate_of(machine, s.dtype);
  const double memory = (w.weights + w.moved) / machine.bytes_per_us;
  const double roof = std::max(tensor, memory);
  for (const double v : {load.rows,
                         load.active,
                         load.max_rows,
                         load.rows / load.active,
                         load.max_rows * load.active / load.rows,
                         static_cast<double>(s.experts),
                         w.inter,
                         w.hidden,
                         w.inter * w.hidden,
                         w.weights,
                         w.moved,
                         w.weights / machine.l2_bytes,
                         tensor / memory,
                         analytic.us,
                         analytic.us / roof,
                         analytic.memory_us / analytic.us,
                         analytic.tensor_us / analytic.us,
                         analytic.moved_us / analytic.us,
                         s.down ? 1.0 : 0.0,
                         static_cast<double>(s.topk)}) {
    put(v);
  }
  for (std::size_t b = 0; b < ExpertLoad::kBlocks; ++b) {
    const double rows = ExpertLoad::kRows[b];
    const double items = load.tiles[b] * ceil_div(w.inter, 128) / machine.sms;
    put(load.tiles[b]);
    put(load.tiles[b] * rows / load.rows);
    put(items);
    put(std::ceil(items) / items);
    put(std::ceil(items) * rows * w.hidden);
  }
}

}  // namespace plumbline
