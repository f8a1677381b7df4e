// SPDX-License-Identifier: Apache-2.0
// One entry for every latency model: chosen once, then called for each layer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/hardware.h"
#include "plumbline/model/layer.h"
#include "plumbline/model/prediction.h"

namespace plumbline {

/// Which model predicts: the fixed roofline, or the one fitted to measured kernels.
enum class LatencyModel { proxy, measured };
/// "proxy" or "measured".
std::string_view to_string(LatencyModel model);

/// A model of one GPU, ready to predict. Cheap to copy, and to share between threads.
struct Predictor {
  std::string hardware;  ///< the GPU's name
  LatencyModel model = LatencyModel::proxy;
  ProxyConstants proxy;                        ///< set when model is proxy
  std::string source_name;                     ///< the kernel source's name; empty for the proxy
  std::shared_ptr<const KernelSource> source;  ///< set when model is measured
  double memory_bytes = 0;                     ///< of the GPU, by its data sheet; 0: not known
};

/// The predictor of `hardware`. Without `model`: measured when the hardware has a kernel source, else proxy.
/// `source` names a kernel source; empty means the first one.
/// Measured on hardware that nobody measured: generic constants on its data sheet, with the warning
/// specification-only. Errors: model-not-available, kernel-source-unknown.
Parsed<Predictor> choose_predictor(const Hardware& hardware, std::optional<LatencyModel> model = {},
                                   std::string_view source = {});

/// Why this model cannot cost that (valid) layer, or none. Errors: proxy-no-decode, backend-not-measured,
/// layer-not-measured.
std::optional<Diagnostic> unsupported(const Predictor& predictor, const Layer& layer,
                                      const Location& at = {});

class KernelMemory;  // model/kernel_memory.h

/// The layer's time. `layer` is valid and supported. Allocates nothing. `memory`, the caller's and of one
/// thread, remembers kernels for rankings that meet the same ones again and again; without it every kernel is
/// predicted anew.
Prediction predict(const Predictor& predictor, const Layer& layer, KernelMemory* memory = nullptr);

/// Kernel `i` of predict() alone, or none where the layer has fewer.
std::optional<KernelTime> predict_kernel_of(const Predictor& predictor, const Layer& layer, std::size_t i,
                                            KernelMemory* memory = nullptr);

/// The parts of a model outside its layers, each of `rows` token rows.
/// A GEMM y[m,n] = x[m,k]·w[n,k]ᵀ, such as the LM head.
KernelTime predict_gemm(const Predictor& predictor, std::string_view name, std::int64_t m, std::int64_t n,
                        std::int64_t k);
/// An RMSNorm of rows × cols.
KernelTime predict_rmsnorm(const Predictor& predictor, std::string_view name, std::int64_t rows,
                           std::int64_t cols);
/// The embedding's gather of rows × cols.
KernelTime predict_embedding(const Predictor& predictor, std::string_view name, std::int64_t rows,
                             std::int64_t cols);

}  // namespace plumbline
