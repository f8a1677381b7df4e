// SPDX-License-Identifier: Apache-2.0
// Every expression keeps the original's order of operations: a reordered product changes the last bit, and
// the artifact is compared byte by byte. Integer factors are multiplied exactly (128 bits) and rounded once,
// as Python's integers are.
#include "plumbline/model/proxy.h"

#include <algorithm>

namespace plumbline {
namespace {

__extension__ using Int128 = __int128;

double rounded(Int128 value) {
  const auto low = static_cast<std::int64_t>(value);
  return low == value ? static_cast<double>(low) : static_cast<double>(value);
}

double bytes_ms(Int128 bytes, double gbps) { return rounded(bytes) / (gbps * 1e6); }

double gemm_ms(double tflops, Int128 m, std::int64_t n, std::int64_t k, double efficiency) {
  return rounded(2 * m * n * k) / (tflops * efficiency * 1e9);
}

double tflops_for(const ProxyConstants& gpu, std::int64_t a, std::int64_t b, std::int64_t c) {
  return std::min({a, b, c}) < 1024 ? gpu.matmul_tflops_small : gpu.matmul_tflops;
}

double mlp_ms(const ProxyConstants& gpu, const Layer& layer, std::int64_t m) {
  const std::int64_t d = layer.hidden_dim;
  const std::int64_t f = layer.ffn_dim;
  const std::int64_t widths = layer.activation == Activation::gated ? 2 : 1;  // gate and up, or up alone
  const double tflops = tflops_for(gpu, m, d, f);
  const double eff_m = tile_efficiency(m);
  const double up = gemm_ms(tflops, m, widths * f, d, eff_m * tile_efficiency(widths * f));
  const double down = gemm_ms(tflops, m, d, f, eff_m * tile_efficiency(d));
  return up + down + bytes_ms(Int128{widths + 1} * m * f * 2, gpu.geglu_gbps);
}

double attention_ms(const ProxyConstants& gpu, const Layer& layer) {
  const std::int64_t keys =
      layer.window_size > 0 ? std::min(layer.seq_len, layer.window_size) : layer.seq_len;
  const Int128 flops = Int128{4} * layer.batch_size * layer.num_heads * layer.seq_len * keys * layer.head_dim;
  return rounded(flops) / (gpu.attention_tflops * 1e9);
}

KernelTime kernel(std::string_view name, double ms, Bound bound) {
  return {name, ms, ms, ms, Provenance::specification, bound};
}

}  // namespace

double proxy_gemm_ms(const ProxyConstants& gpu, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm_ms(tflops_for(gpu, m, n, k), m, n, k, tile_efficiency(m) * tile_efficiency(n));
}

double proxy_rmsnorm_ms(const ProxyConstants& gpu, std::int64_t rows, std::int64_t cols) {
  return bytes_ms(Int128{2} * rows * cols * 2, cols >= 2048 ? gpu.rmsnorm_gbps : gpu.rmsnorm_gbps_small);
}

double proxy_copy_ms(const ProxyConstants& gpu, std::int64_t rows, std::int64_t cols) {
  return bytes_ms(Int128{2} * rows * cols * 2, gpu.hbm_bandwidth_gbps);
}

Prediction predict_proxy(const ProxyConstants& gpu, const Layer& layer) {
  const std::int64_t m = layer.batch_size * layer.seq_len;
  const std::int64_t d = layer.hidden_dim;
  const std::int64_t q_width = layer.num_heads * layer.head_dim;
  const std::int64_t heads = layer.num_heads + layer.num_kv_heads;
  const double norm = proxy_rmsnorm_ms(gpu, m, d);
  const double residual = bytes_ms(Int128{3} * m * d * 2, gpu.residual_add_gbps);
  const Int128 rope_bytes = Int128{2} * layer.batch_size * heads * layer.seq_len * layer.head_dim * 2;

  Prediction result;
  result.add(kernel("pre_attn_rmsnorm", norm, Bound::hbm));
  result.add(kernel("qkv_projection",
                    proxy_gemm_ms(gpu, m, (layer.num_heads + 2 * layer.num_kv_heads) * layer.head_dim, d),
                    Bound::tensor));
  result.add(
      layer.use_qk_norm
          ? kernel("qk_norm_rope", bytes_ms(rope_bytes, gpu.qk_norm_rope_gbps), Bound::hbm)
          : kernel("rope_only", bytes_ms(rope_bytes, gpu.qk_norm_rope_separate_gbps) * 0.5, Bound::hbm));
  result.add(kernel("attention", attention_ms(gpu, layer), Bound::tensor));
  result.add(kernel("output_projection", proxy_gemm_ms(gpu, m, d, q_width), Bound::tensor));
  result.add(kernel("residual_add_1", residual, Bound::hbm));
  result.add(kernel("pre_mlp_rmsnorm", norm, Bound::hbm));
  result.add(kernel(layer.activation == Activation::gated ? "geglu_mlp" : "plain_mlp", mlp_ms(gpu, layer, m),
                    Bound::tensor));
  result.add(kernel("residual_add_2", residual, Bound::hbm));
  finish(result);

  result.tile_penalties = {tile_penalty("hidden_dim", d), tile_penalty("ffn_dim", layer.ffn_dim),
                           tile_penalty("head_dim", layer.head_dim)};
  result.ms_per_mparam_proxy = result.total_ms / (rounded(Int128{d} * layer.ffn_dim) / 1e6);
  return result;
}

}  // namespace plumbline
