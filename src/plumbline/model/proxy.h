// SPDX-License-Identifier: Apache-2.0
// The proxy model: a fixed roofline with ten constants a GPU and a 128-wide tile penalty
// (docs/model-proxy.md).
#pragma once

#include <cstdint>

#include "plumbline/model/hardware.h"
#include "plumbline/model/layer.h"
#include "plumbline/model/prediction.h"

namespace plumbline {

/// The time of a valid prefill layer. Plain IEEE doubles in the order of the formulas, integers exact: the
/// same bits from every compiler. Kernels, in order: pre_attn_rmsnorm, qkv_projection, qk_norm_rope or
/// rope_only, attention, output_projection, residual_add_1, pre_mlp_rmsnorm, geglu_mlp (plain_mlp for an
/// MLP without gate, which the original does not have), residual_add_2.
/// The model has no decode phase: callers refuse such layers first (unsupported() in predict.h).
Prediction predict_proxy(const ProxyConstants& gpu, const Layer& layer);

/// One GEMM of the proxy in ms: 2·m·n·k / (T·(eff(m)·eff(n))·1e9). All of m, n, k >= 1.
double proxy_gemm_ms(const ProxyConstants& gpu, std::int64_t m, std::int64_t n, std::int64_t k);

/// One RMSNorm over rows × cols bf16 values in ms.
double proxy_rmsnorm_ms(const ProxyConstants& gpu, std::int64_t rows, std::int64_t cols);

/// A copy of rows × cols bf16 values (the embedding's gather) at the HBM bandwidth, in ms.
double proxy_copy_ms(const ProxyConstants& gpu, std::int64_t rows, std::int64_t cols);

}  // namespace plumbline
