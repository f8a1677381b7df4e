// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured_attention.h"

namespace plumbline {
namespace {

constexpr std::array<double, 3> kQueryTiles{64, 128, 192};

struct Sizes {
  double batch, q, kv, heads, kv_heads, dim, group;
  double window;  ///< keys that the last query sees
  double pairs;
  double kv_share;  ///< bytes of a cached element over bf16's
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
  out.kv_share = cost_of(s.kv).weight_bytes / 2;
  return out;
}

/// Keys of one sequence that any query sees: all but those before the first query's window.
double keys_touched(const Sizes& s) { return std::min(s.kv, s.window + s.q - 1); }

double prefill_flops(const Sizes& s) { return 4 * s.batch * s.heads * s.dim * s.pairs; }
double prefill_bytes(const Sizes& s) {
  return 4 * s.batch * s.dim * (s.heads * s.q + s.kv_share * s.kv_heads * keys_touched(s));
}
double decode_bytes(const Sizes& s) {
  return 4 * s.batch * s.dim * (s.kv_share * s.kv_heads * s.window + s.heads);
}

/// Rows (queries, of every head of a group when packed) and keys of a tile.
struct Tile {
  double rows, keys;
  bool packed;
};

/// FlashAttention-3's tiles on Hopper, by head width; windows take narrower key blocks.
Tile hopper_tile(double dim, bool window) {
  if (dim <= 64) return {192, 128, true};
  if (dim <= 128) return {128, 128, true};
  if (dim <= 192) return {128, window ? 96.0 : 112.0, true};
  return {128, window ? 64.0 : 80.0, true};
}

Tile tile_of(double tiling, double dim, bool window) {
  if (tiling < 0.5) return hopper_tile(dim, window);
  if (tiling < 1.5) return {64, dim <= 64 ? 256.0 : dim <= 128 ? 128.0 : 64.0, false};
  return {128, dim <= 64 ? 128.0 : 64.0, false};
}

/// The tiles of a shape: how many, and how many key blocks one works through.
struct TileWork {
  double tiles = 0;    ///< of all sequences and heads
  double mean = 0;     ///< key blocks of a tile
  double longest = 0;  ///< key blocks of the longest of a sequence's tiles
};

constexpr double kSampledTiles = 9;

/// Key blocks that row tile `index` of one sequence and head (or group of packed heads) works through.
double key_blocks(const Sizes& s, bool causal, const Tile& tile, double group, double index) {
  if (!causal) return std::ceil(s.kv / tile.keys);
  const double offset = s.kv - s.q;
  const double first = std::floor(index * tile.rows / group);
  const double last = std::min(std::ceil((index + 1) * tile.rows / group), s.q);
  const double high = std::clamp(last + offset, 1.0, s.kv);
  const double low = std::max(0.0, first + offset - s.window + 1);
  return std::max(1.0, std::ceil(high / tile.keys) - std::floor(low / tile.keys));
}

/// Counted over all tiles of a sequence, or over nine of them spread evenly, the first and the last among
/// them.
TileWork tile_work(const Sizes& s, bool causal, const Tile& tile) {
  const double group = tile.packed ? s.group : 1;
  const double tiles = ceil_div(s.q * group, tile.rows);
  const double count = std::min(tiles, kSampledTiles);
  TileWork out;
  for (double i = 0; i < count; ++i) {
    const double index = tiles <= kSampledTiles ? i : std::floor((tiles - 1) * i / (kSampledTiles - 1));
    const double blocks = key_blocks(s, causal, tile, group, index);
    out.mean += blocks;
    out.longest = std::max(out.longest, blocks);
  }
  out.mean /= count;
  out.tiles = tiles * s.batch * (tile.packed ? s.kv_heads : s.heads);
  return out;
}

/// Waves of the blocks that write a KV cache, one block a token: as many of its threads (one an element, at
/// most 512) as an SM holds.
double cache_waves(const Machine& machine, const Sizes& s) {
  const double threads = std::min(s.kv_heads * s.dim, 512.0);
  return s.batch * s.q / (machine.sms * std::clamp(std::floor(2048 / threads), 1.0, 32.0));
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

double attention_roofline_us(const Machine& machine, const AttentionShape& shape) {
  const Sizes s = sizes_of(shape);
  const double bytes = is_decode(shape) ? decode_bytes(s) : prefill_bytes(s);
  return std::max(prefill_flops(s) / machine.flops_per_us, bytes / machine.bytes_per_us);
}

AttentionAnalytic prefill_analytic(const Machine& machine, std::span<const double> c,
                                   const AttentionShape& shape) {
  const Sizes s = sizes_of(shape);
  AttentionAnalytic out;
  const Tile tile = tile_of(c[9], s.dim, shape.window > 0);
  const TileWork work = tile_work(s, shape.causal, tile);
  // One tile and block of keys on one SM: two products of the head's width, and the softmax.
  const double block_us = tile.rows * tile.keys * 4 * (s.dim / c[1] + c[2] / 4) /
                          (machine.flops_per_us / machine.sms) * (s.dim > 256 ? c[8] : 1.0);
  out.launch_us = c[0];
  out.tensor_us = std::ceil(work.tiles / machine.sms) * (c[3] + work.mean * block_us);
  // A grid that does not fill the GPU waits for its longest tile: the last queries see the most keys.
  out.longest_us = c[3] + work.longest * block_us;
  out.reread_us = work.tiles * work.mean * tile.keys * s.dim * 4 / machine.bytes_per_us;
  out.memory_us = prefill_bytes(s) / (machine.bytes_per_us * c[6]) + c[7] * out.reread_us;
  out.write_us = std::max(c[4] * 8 * s.batch * s.q * s.kv_heads * s.dim / machine.bytes_per_us,
                          c[5] * cache_waves(machine, s));
  out.us = c[0] + out.write_us + std::max(out.tensor_us, out.longest_us) + out.memory_us;
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
                         s.batch * s.q,
                         bytes / machine.l2_bytes,
                         shape.window > 0 ? 1.0 : 0.0,
                         shape.causal ? 1.0 : 0.0,
                         s.dim > 128 ? 1.0 : 0.0}) {
    put(v);
  }
  for (const double rows : kQueryTiles) {
    put(s.batch * s.heads * ceil_div(s.q, rows));
    put(s.batch * s.kv_heads * ceil_div(s.q * s.group, rows));
  }
  const double sm_rate = machine.flops_per_us / machine.sms;
  for (const Tile& tile : {hopper_tile(s.dim, shape.window > 0), Tile{64, 128, false}, Tile{128, 64, false},
                           Tile{128, 128, true}}) {
    const TileWork work = tile_work(s, shape.causal, tile);
    const double block_us = 4 * tile.rows * tile.keys * s.dim / sm_rate;
    const double waves = work.tiles / machine.sms;
    const double total = waves * work.mean * block_us;
    put(work.tiles);
    put(std::ceil(waves) / waves);
    put(work.mean);
    put(total / roof);
    put(work.longest * block_us / analytic.us);
    put(std::max(total, std::ceil(waves) * work.mean * block_us) / analytic.us);
    put(work.tiles * work.mean * tile.rows * tile.keys / (s.batch * s.heads * s.pairs));
  }
  const double written = 8 * s.batch * s.q * s.kv_heads * s.dim / machine.bytes_per_us;
  for (const double v :
       {written / analytic.us, s.batch * s.kv_heads * s.q, s.kv_heads * s.dim,
        std::min(s.kv_heads * s.dim, 512.0), cache_waves(machine, s), analytic.write_us / analytic.us,
        analytic.longest_us / analytic.us, analytic.tensor_us / analytic.us, analytic.longest_us,
        analytic.tensor_us, analytic.reread_us / analytic.us, memory / analytic.us, std::fmod(s.dim, 64.0)}) {
    put(v);
  }
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
