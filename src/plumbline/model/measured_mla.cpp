// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured_mla.h"

#include <algorithm>

namespace plumbline {
namespace {

// DeepSeek-V3: hidden 7168, queries through 1536, keys and values through 512, 64 of RoPE, heads of 128.
constexpr double kHidden = 7168, kQueryRank = 1536, kLatent = 512, kRope = 64, kHead = 128;

struct Work {
  double batch, tokens, keys, heads;
  double gemm_flops, weights;  ///< projections
  double attention_flops, cache, pairs;
  double moved;  ///< elements of tokens between the kernels
};

Work work_of(const MlaShape& s) {
  Work w{};
  w.batch = static_cast<double>(s.batch);
  w.heads = static_cast<double>(s.heads);
  w.keys = static_cast<double>(s.kv_len);
  const auto q = static_cast<double>(s.q_len);
  w.tokens = w.batch * (s.decode ? 1 : q);
  const double down = kHidden * (kQueryRank + kLatent + kRope);
  const double query = kQueryRank * w.heads * (kHead + kRope);
  const double expand = kLatent * w.heads * 2 * kHead;
  const double output = w.heads * kHead * kHidden;
  if (s.module) {
    w.gemm_flops = 2 * w.tokens * (down + query + expand + output);
    w.weights = (down + query + output) * cost_of(s.gemm).weight_bytes + expand * 2;
  }
  w.pairs = s.decode ? w.batch * w.keys : w.batch * q * (q + 1) / 2;
  const double latent_bytes = (kLatent + kRope) * cost_of(s.kv).weight_bytes;
  if (s.decode) {  // queries are brought into the latent space: every head reads the latent cache itself
    w.attention_flops = 2 * w.heads * w.pairs * (2 * kLatent + kRope);
    w.cache = w.batch * w.keys * latent_bytes;
  } else {
    w.attention_flops = 2 * w.heads * w.pairs * (2 * kHead + kRope);
    w.cache = w.tokens * (latent_bytes + 2 * w.heads * (3 * kHead + 2 * kRope));
  }
  w.moved = w.tokens * ((s.module ? 2 * kHidden + 2 * kQueryRank : 0) + 2 * w.heads * (3 * kHead + kRope));
  return w;
}

}  // namespace

OperationAnalytic mla_analytic(const Machine& machine, std::span<const double> c, const MlaShape& s) {
  const Work w = work_of(s);
  OperationAnalytic out;
  out.launch_us = c[0];
  const double gemm = w.gemm_flops / (tensor_rate(machine, s.gemm) * c[2]);
  const double weights = w.weights / (machine.bytes_per_us * c[1]);
  const double attention =
      (w.attention_flops + c[5] * w.pairs * w.heads) / (tensor_rate(machine, s.attention) * c[3]);
  const double cache = w.cache / (machine.bytes_per_us * c[1]);
  out.tensor_us = gemm;
  out.memory_us = weights;
  out.longest_us = attention;
  out.reread_us = cache;
  out.moved_us = c[4] * w.moved / machine.bytes_per_us;
  out.us = c[0] + out.moved_us + std::max(gemm, weights) + std::max(attention, cache);
  return out;
}

void mla_features(const Machine& machine, const OperationAnalytic& analytic, const MlaShape& s,
                  std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const Work w = work_of(s);
  const double gemm = w.gemm_flops / tensor_rate(machine, s.gemm);
  const double attention = w.attention_flops / tensor_rate(machine, s.attention);
  for (const double v : {w.batch,
                         w.keys,
                         static_cast<double>(s.q_len),
                         w.heads,
                         w.tokens,
                         w.batch * w.keys,
                         w.batch * w.heads,
                         w.tokens * w.heads,
                         w.pairs,
                         w.pairs * w.heads,
                         static_cast<double>(s.attention),
                         static_cast<double>(s.gemm),
                         static_cast<double>(s.kv),
                         s.module ? 1.0 : 0.0,
                         analytic.us,
                         analytic.tensor_us / analytic.us,
                         analytic.memory_us / analytic.us,
                         analytic.longest_us / analytic.us,
                         analytic.reread_us / analytic.us,
                         analytic.moved_us / analytic.us,
                         gemm,
                         attention,
                         w.cache / machine.l2_bytes,
                         w.weights / machine.l2_bytes,
                         w.moved / machine.l2_bytes,
                         gemm / (attention + 1e-6)}) {
    put(v);
  }
  for (const double rows : {64.0, 128.0}) {
    const double tiles = s.decode ? w.batch * ceil_div(w.heads, rows)
                                  : w.batch * w.heads * ceil_div(static_cast<double>(s.q_len), rows);
    const double waves = tiles / machine.sms;
    put(tiles);
    put(std::ceil(waves) / waves);
    const double projection = ceil_div(w.tokens, rows) * ceil_div(w.heads * kHead, 128) / machine.sms;
    put(projection);
    put(std::ceil(projection) / projection);
  }
}

}  // namespace plumbline
