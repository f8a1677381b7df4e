// SPDX-License-Identifier: Apache-2.0
// A layer with parts as the sum of one GPU's kernels.
#include <algorithm>
#include <initializer_list>
#include <variant>

#include "plumbline/model/kernel_memory.h"
#include "plumbline/model/layer_parts.h"
#include "plumbline/model/layer_times.h"

namespace plumbline {
namespace {

/// What tells requests apart in a KernelMemory. Those of a dense bf16 layer end in -1 or a backend.
struct RequestKey {
  KernelKey key{};

  RequestKey(const KernelSource& source, const KernelShape& shape) {
    std::visit(*this, shape);
    key[0] = static_cast<std::int64_t>(source.id.value);
    key[8] = -2 - static_cast<std::int64_t>(shape.index());
  }

  void operator()(const GemmShape& s) { fill(s.m, s.n, s.k, s.dtype); }
  void operator()(const AttentionShape& s) {
    fill(s.batch, s.q_len, s.kv_len, s.heads, s.kv_heads, s.head_dim, packed({s.window, at(s.kv)}));
  }
  void operator()(const MoeShape& s) {
    fill(s.tokens, s.hidden, s.inter, s.topk, s.experts, s.tp,
         packed({s.ep, at(s.routing), at(s.dtype), s.gated}));
  }
  void operator()(const GroupedGemmShape& s) {
    fill(s.tokens, s.hidden, s.inter, s.topk, s.experts, s.active, packed({s.max_rows, at(s.dtype), s.down}));
  }
  void operator()(const MlaShape& s) {
    fill(s.batch, s.q_len, s.kv_len, s.heads, s.decode, s.module,
         packed({at(s.attention), at(s.gemm), at(s.kv)}));
  }
  void operator()(const CollectiveShape& s) { fill(s.op, s.gpus, s.elements, s.element_bytes); }

 private:
  template <class Enum>
  static std::int64_t at(Enum value) {
    return static_cast<std::int64_t>(value);
  }
  /// One number of several: all but the first are below 8.
  static std::int64_t packed(std::initializer_list<std::int64_t> numbers) {
    std::int64_t all = 0;
    for (const std::int64_t each : numbers) all = all * 8 + each;
    return all;
  }
  template <class... Each>
  void fill(Each... numbers) {
    std::size_t place = 1;
    ((key[place++] = static_cast<std::int64_t>(numbers)), ...);
  }
};

/// Collects a layer's kernels; those of one name (two all-reduces, both products of shared experts) are one.
class Sum {
 public:
  Sum(const KernelSource& source, const Layer& layer, const Layer& local, KernelMemory* memory)
      : source_(source),
        layer_(layer),
        times_(source, local, memory),
        memory_(memory),
        requests_(layer_kernels(layer, work_of(layer))) {}

  Prediction done() {
    const bool own_projections = layer_.has_attention && layer_.kv_lora_rank == 0;
    for (const DecoderKernel& kernel : kernels_of(source_, times_.layer)) {
      if (is_pointwise(kernel.role)) {
        if (runs_pointwise(source_, layer_, kernel.role)) add(times_.of(kernel));
      } else if (kernel.role == KernelRole::attention) {
        if (layer_.has_attention) next(kernel);
      } else if (kernel.place < 2) {
        if (own_projections) next(kernel);
        if (kernel.place == 1 && layer_.tp > 1 && layer_.has_attention && !layer_.parallel) next(kernel);
      } else if (kernel.place == 2 && layer_.has_mlp) {
        for (std::size_t left = layer_.experts == 0          ? 1
                                : layer_.shared_experts == 0 ? 2
                                                             : 4;
             left > 0; --left)
          next(kernel);
      } else {
        while (at_ < requests_.size()) next(kernel);
      }
    }
    finish_layer(sum_, layer_, layer_half_width(source_, times_.kind), 0);
    return sum_;
  }

 private:
  void next(const DecoderKernel& kernel) {
    const LayerKernel& request = requests_[at_++];
    const auto* attention = std::get_if<AttentionShape>(&request.request.shape);
    if (attention != nullptr && attention->kv == Dtype::bf16) return add(times_.of(kernel));
    KernelTime time = predicted(request);
    if (attention != nullptr) time = times_.attention(time);
    if (request.in_layer) time = inside_layer(source_, times_.kind, time);
    if (attention != nullptr) time.name = "attention";
    if (std::holds_alternative<MlaShape>(request.request.shape)) time.name = "latent_attention";
    add(time);
  }

  KernelTime predicted(const LayerKernel& kernel) {
    if (memory_ == nullptr) return predict_kernel(source_, kernel.name, kernel.request);
    const std::size_t place = std::min(5 + at_, KernelMemory::kPlaces - 1);
    KernelTime time = memory_->get(place, RequestKey(source_, kernel.request.shape).key,
                                   [&] { return predict_kernel(source_, kernel.name, kernel.request); });
    time.name = kernel.name;
    return time;
  }

  void add(const KernelTime& time) {
    for (std::size_t i = 0; i < sum_.kernel_count; ++i) {
      KernelTime& one = sum_.kernel_storage[i];
      if (one.name != time.name) continue;
      one.ms += time.ms;
      one.low_ms += time.low_ms;
      one.high_ms += time.high_ms;
      one.provenance = std::max(one.provenance, time.provenance);
      return;
    }
    sum_.add(time);
  }

  const KernelSource& source_;
  const Layer& layer_;
  LayerTimes times_;
  KernelMemory* memory_;
  std::vector<LayerKernel> requests_;
  std::size_t at_ = 0;
  Prediction sum_;
};

}  // namespace

Prediction predict_parts(const KernelSource& source, const Layer& layer, KernelMemory* memory) {
  const Layer local = local_layer(layer);
  return Sum(source, layer, local, memory).done();
}

}  // namespace plumbline
