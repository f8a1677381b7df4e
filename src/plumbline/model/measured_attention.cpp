// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured_attention.h"

namespace plumbline {
namespace {

constexpr std::array<double, 3> kQueryTiles{64, 128, 192};
constexpr double kTile = 128;  ///< queries and keys of a block of the analytic formula

struct Sizes {
  double batch, q, kv, heads, kv_heads, dim, group;
  double window;  ///< keys that the last query sees
  double pairs;
};

Sizes sizes_of(const AttentionShape& s) {
  Sizes out{};
  out.batch = static_cast<double>(s.batch);
  out.q = static_cast<double>(s.q_len);
  out.kv = static_cast<double>(s.kv_len);
  out.heads = static_cast<double>(s.heads);
  out.kv_heads = static_cast<double>(s.kv_heads);
  out.dim = static_cast<double>(s.head_dim);
  out.group = out.heads / out.kv_heads;
  out.window = s.window > 0 ? std::min(out.kv, static_cast<double>(s.window)) : out.kv;
  out.pairs = attention_pairs(s);
  return out;
}

/// Keys of one sequence that any query sees: all but those before the first query's window.
double keys_touched(const Sizes& s) { return std::min(s.kv, s.window + s.q - 1); }

double prefill_flops(const Sizes& s) { return 4 * s.batch * s.heads * s.dim * s.pairs; }
double prefill_bytes(const Sizes& s) {
  return 4 * s.batch * s.dim * (s.heads * s.q + s.kv_heads * keys_touched(s));
}
double decode_bytes(const Sizes& s) { return 4 * s.batch * s.dim * (s.kv_heads * s.window + s.heads); }

double join(double a, double b, double p) {
  const double larger = std::max(a, b);
  return larger * std::pow(1 + std::pow(std::min(a, b) / larger, p), 1 / p);
}

/// Blocks of `bn` keys that the query tile beginning at row `first` works through.
double key_blocks(const Sizes& s, bool causal, double first, double bm, double bn) {
  if (!causal) return ceil_div(s.kv, bn);
  const double offset = s.kv - s.q;
  const double last = std::min(first + bm, s.q);
  const double high = std::clamp(last + offset, 1.0, s.kv);
  const double low = std::max(0.0, first + offset - s.window + 1);
  return std::max(1.0, std::ceil(high / bn) - std::floor(low / bn));
}

struct BlockWork {
  double mean = 0;  ///< key blocks a query tile
  double longest = 0;
};

/// Of five query tiles spread evenly, the first and the last among them.
BlockWork block_work(const Sizes& s, bool causal, double bm, double bn) {
  const double tiles = ceil_div(s.q, bm);
  BlockWork out;
  for (int i = 0; i < 5; ++i) {
    const double tile = std::floor((tiles - 1) * i / 4);
    const double blocks = key_blocks(s, causal, tile * bm, bm, bn);
    out.mean += blocks / 5;
    out.longest = std::max(out.longest, blocks);
  }
  return out;
}

}  // namespace

std::array<double, 3> domain_of(const AttentionShape& s) {
  return {static_cast<double>(s.kv_len), static_cast<double>(s.batch) * static_cast<double>(s.heads),
          static_cast<double>(s.head_dim)};
}

bool is_decode(const AttentionShape& shape) {
  return shape.q_len == 1 && !(shape.causal && shape.kv_len == 1);
}

double attention_pairs(const AttentionShape& shape) {
  const auto q = static_cast<double>(shape.q_len);
  const auto kv = static_cast<double>(shape.kv_len);
  const double window = shape.window > 0 ? std::min(kv, static_cast<double>(shape.window)) : kv;
  if (!shape.causal || shape.q_len == 1) return q * window;
  // query i (from 0) sees min(offset + i + 1, window) keys, and none when that is negative
  const double offset = kv - q;
  const double first = std::max(0.0, -offset);                // the first query that sees a key
  const double full = std::clamp(window - offset, first, q);  // queries before it see offset + i + 1
  const double ramp = full - first;
  return ramp * (offset + 1) + (first + full - 1) * ramp / 2 + (q - full) * window;
}

AttentionAnalytic prefill_analytic(const Machine& machine, std::span<const double> c,
                                   const AttentionShape& shape) {
  const Sizes s = sizes_of(shape);
  AttentionAnalytic out;
  const double tiles = ceil_div(s.q, kTile);
  // 4·(d + softmax) operations a pair; the ramp is what a tile of queries pays beyond its keys.
  const double a_pair = 4 * (s.dim + c[2]) / (machine.flops_per_us * c[1]);
  out.launch_us = c[0];
  out.tensor_us = s.batch * s.heads * (s.pairs + c[3] * kTile * tiles) * a_pair;
  // A grid that does not fill the GPU waits for its longest block: the last query tile has the most keys.
  const double keys = shape.causal ? std::min(s.kv, s.window + kTile) : s.kv;
  out.longest_us = (keys + c[3]) * kTile * a_pair * machine.sms;
  out.memory_us = prefill_bytes(s) / (machine.bytes_per_us * c[4]);
  out.write_us = c[7] * 8 * s.batch * s.q * s.kv_heads * s.dim / machine.bytes_per_us;
  out.us = c[0] + out.write_us + join(join(out.tensor_us, out.longest_us, c[6]), out.memory_us, c[5]);
  return out;
}

AttentionAnalytic decode_analytic(const Machine& machine, std::span<const double> c,
                                  const AttentionShape& shape) {
  const Sizes s = sizes_of(shape);
  AttentionAnalytic out;
  out.launch_us = c[0];
  out.tensor_us = 4 * s.batch * s.heads * s.dim * s.window / machine.flops_per_us;
  out.memory_us = decode_bytes(s) / (machine.bytes_per_us * c[1]);
  out.items_us = c[2] * s.batch * s.kv_heads * (132 / machine.sms);
  out.us = c[0] + out.memory_us + out.items_us;
  return out;
}

void prefill_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                      std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const Sizes s = sizes_of(shape);
  const double flops = prefill_flops(s);
  const double bytes = prefill_bytes(s);
  const double tensor = flops / machine.flops_per_us;
  const double memory = bytes / machine.bytes_per_us;
  const double roof = std::max(tensor, memory);
  for (const double v : {s.batch,
                         s.heads,
                         s.kv_heads,
                         s.dim,
                         s.q,
                         s.kv,
                         s.window,
                         s.window / s.kv,
                         s.group,
                         s.batch * s.heads,
                         s.batch * s.kv_heads,
                         s.pairs,
                         flops,
                         bytes,
                         flops / bytes,
                         tensor / memory,
                         analytic.us / roof,
                         analytic.us,
                         analytic.longest_us / analytic.us,
                         s.batch * s.q,
                         bytes / machine.l2_bytes,
                         shape.window > 0 ? 1.0 : 0.0,
                         shape.causal ? 1.0 : 0.0}) {
    put(v);
  }
  for (const double bm : kQueryTiles) {
    const double blocks = s.batch * s.heads * ceil_div(s.q, bm);
    const double packed = s.batch * s.kv_heads * ceil_div(s.q * s.group, bm);
    put(blocks);
    put(std::ceil(blocks / machine.sms) / (blocks / machine.sms));
    put(packed);
    put(std::ceil(packed / machine.sms) / (packed / machine.sms));
    put(s.q / (bm * ceil_div(s.q, bm)));
  }
  const double sm_rate = machine.flops_per_us / machine.sms;
  for (const double bm : {64.0, 128.0}) {
    for (const double bn : {64.0, 128.0}) {
      const BlockWork work = block_work(s, shape.causal, bm, bn);
      const double tiles = ceil_div(s.q, bm);
      put(work.mean * tiles * bm * bn / s.pairs);
      const double longest = work.longest * 4 * bm * bn * s.dim / sm_rate;
      if (bn == 128.0) put(longest / roof);
      if (bm == 128.0) {
        const double total =
            work.mean * tiles * s.batch * s.heads * 4 * bm * bn * s.dim / machine.flops_per_us;
        put(std::max(total, longest) / roof);
      }
    }
  }
  put(s.dim > 128 ? 1.0 : 0.0);
  put(std::fmod(s.dim, 64.0));
}

void decode_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                     std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const Sizes s = sizes_of(shape);
  const double bytes = decode_bytes(s);
  const double items = s.batch * s.kv_heads * std::ceil(s.group / 64);
  for (const double v : {s.batch,
                         s.heads,
                         s.kv_heads,
                         s.dim,
                         s.kv,
                         s.window,
                         s.window / s.kv,
                         s.group,
                         s.batch * s.heads,
                         s.batch * s.kv_heads,
                         bytes,
                         bytes / machine.l2_bytes,
                         analytic.us,
                         analytic.memory_us / analytic.us,
                         analytic.items_us / analytic.us,
                         analytic.tensor_us / analytic.memory_us,
                         items,
                         16 * std::ceil(s.group / 16) / s.group,
                         s.window * s.dim,
                         s.batch * s.kv_heads * s.dim,
                         std::fmod(s.dim, 64.0)}) {
    put(v);
  }
  for (const double bn : {64.0, 128.0, 256.0}) {
    const double blocks = ceil_div(s.window, bn);
    const double split = std::clamp(std::floor(machine.sms / items), 1.0, blocks);
    const double work = items * split;
    put(blocks);
    put(split);
    put(std::ceil(blocks / split));
    put(std::ceil(work / machine.sms) * ceil_div(blocks, split));
    put(items * blocks / machine.sms);
  }
  put(std::ceil(items / machine.sms) / (items / machine.sms));
}

}  // namespace plumbline
