// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/predict.h"

#include <fmt/format.h>

#include "plumbline/model/layer_parts.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/proxy.h"

namespace plumbline {
namespace {

KernelTime specified(std::string_view name, double ms, Bound bound) {
  return {name, ms, ms, ms, Provenance::specification, bound};
}

}  // namespace

std::string_view to_string(LatencyModel model) { return model == LatencyModel::proxy ? "proxy" : "measured"; }

Parsed<Predictor> choose_predictor(const Hardware& hardware, std::optional<LatencyModel> model,
                                   std::string_view source) {
  const LatencyModel wanted =
      model.value_or(hardware.sources.empty() ? LatencyModel::proxy : LatencyModel::measured);
  if (wanted == LatencyModel::proxy && !source.empty()) {
    return failed<Predictor>(
        diagnose("kernel-source-unknown",
                 fmt::format("hardware '{}': the proxy model has no kernel sources ('{}' was asked for)",
                             hardware.name, source)));
  }
  if (wanted == LatencyModel::proxy && !hardware.proxy) {
    return failed<Predictor>(
        diagnose("model-not-available",
                 fmt::format("hardware '{}' has no constants of the proxy model{}", hardware.name,
                             hardware.sources.empty() ? "" : "; use --model measured")));
  }
  Predictor result;
  result.hardware = hardware.name;
  result.model = wanted;
  result.memory_bytes = static_cast<double>(hardware.sheet.hbm_bytes);
  if (hardware.proxy) result.proxy = *hardware.proxy;
  if (wanted == LatencyModel::proxy) return {result, {}};
  if (hardware.sources.empty() && source.empty()) {
    result.source = specification_source(hardware.sheet);
    return {
        result,
        {diagnose("specification-only",
                  fmt::format("hardware '{}' was never measured: every number comes from its data sheet and "
                              "from constants of other GPUs",
                              hardware.name))}};
  }
  result.source = find_source(hardware, source);
  if (result.source != nullptr) {
    result.source_name = result.source->name;
    return {result, {}};
  }
  std::string known;
  for (const auto& one : hardware.sources) known += fmt::format("{}{}", known.empty() ? "" : ", ", one->name);
  return failed<Predictor>(
      diagnose("kernel-source-unknown", fmt::format("hardware '{}' has no kernel source '{}'; it has: {}",
                                                    hardware.name, source, known.empty() ? "none" : known)));
}

namespace {

/// Why the model has no time for what the layer has beyond a bf16 layer on one GPU, or nothing.
std::string unmeasured_parts(const Predictor& predictor, const Layer& layer) {
  if (!has_parts(layer)) return {};
  if (predictor.source == nullptr)
    return "the proxy model knows bf16 layers on one GPU only, without experts or latent attention";
  return predictor.source->specification_only ? "" : not_measured(*predictor.source, layer);
}

}  // namespace

std::optional<Diagnostic> unsupported(const Predictor& predictor, const Layer& layer, const Location& at) {
  const auto prefix = [&] { return layer.name.empty() ? "" : fmt::format("layer '{}': ", layer.name); };
  if (predictor.model == LatencyModel::proxy && layer.phase == Phase::decode)
    return diagnose("proxy-no-decode", prefix() + "the proxy model has no decode phase", at);
  if (const std::string why = unmeasured_parts(predictor, layer); !why.empty())
    return diagnose("layer-not-measured", prefix() + why, at);
  if (predictor.source && layer.backend == AttentionBackend::flex) {
    const bool window =
        layer.phase == Phase::prefill && layer.window_size > 0 && layer.window_size < layer.seq_len;
    const bool known = predictor.source->prefill[measured_place(AttentionBackend::flex)].known();
    if (!window || !known) {
      return diagnose(
          "backend-not-measured",
          fmt::format("{}{}", prefix(),
                      known ? "FlexAttention was measured for sliding windows of prompts only"
                            : fmt::format("source '{}' has no FlexAttention", predictor.source->name)),
          at);
    }
  }
  return std::nullopt;
}

Prediction predict(const Predictor& predictor, const Layer& layer, KernelMemory* memory) {
  return predictor.source ? predict_measured(*predictor.source, layer, memory)
                          : predict_proxy(predictor.proxy, layer);
}

std::optional<KernelTime> predict_kernel_of(const Predictor& predictor, const Layer& layer, std::size_t i,
                                            KernelMemory* memory) {
  if (predictor.source) return predict_measured_kernel(*predictor.source, layer, i, memory);
  const Prediction all = predict_proxy(predictor.proxy, layer);
  if (i >= all.kernel_count) return std::nullopt;
  return all.kernel_storage[i];
}

KernelTime predict_gemm(const Predictor& predictor, std::string_view name, std::int64_t m, std::int64_t n,
                        std::int64_t k) {
  if (predictor.source) return predict_gemm(*predictor.source, name, {m, n, k});
  return specified(name, proxy_gemm_ms(predictor.proxy, m, n, k), Bound::tensor);
}

KernelTime predict_rmsnorm(const Predictor& predictor, std::string_view name, std::int64_t rows,
                           std::int64_t cols) {
  if (predictor.source)
    return predict_elementwise(*predictor.source, name, {ElementwiseOp::fused_rmsnorm, rows, cols});
  return specified(name, proxy_rmsnorm_ms(predictor.proxy, rows, cols), Bound::hbm);
}

KernelTime predict_embedding(const Predictor& predictor, std::string_view name, std::int64_t rows,
                             std::int64_t cols) {
  // a gather reads and writes each element once, as RMSNorm does
  if (predictor.source)
    return predict_elementwise(*predictor.source, name, {ElementwiseOp::fused_rmsnorm, rows, cols});
  return specified(name, proxy_copy_ms(predictor.proxy, rows, cols), Bound::hbm);
}

}  // namespace plumbline
