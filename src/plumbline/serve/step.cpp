// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/step.h"

#include <algorithm>
#include <cmath>

#include "plumbline/model/layer_parts.h"
#include "plumbline/model/measured.h"
#include "plumbline/serve/framework.h"

namespace plumbline {
namespace {

class Sum {
 public:
  void add(std::string_view name, const KernelTime& time, double times) {
    auto part = std::find_if(cost_.parts.begin(), cost_.parts.end(),
                             [&](const StepPart& each) { return each.name == name; });
    if (part == cost_.parts.end()) {
      cost_.parts.push_back({std::string(name), 0, 0, 0, time.provenance});
      part = std::prev(cost_.parts.end());
    }
    part->ms += times * time.ms;
    part->low_ms += times * time.low_ms;
    part->high_ms += times * time.high_ms;
    part->provenance = std::max(part->provenance, time.provenance);
  }

  StepCost done() {
    double squares = 0;
    for (const StepPart& part : cost_.parts) {
      cost_.ms += part.ms;
      squares += (part.high_ms - part.ms) * (part.high_ms - part.ms);
    }
    cost_.half_width = cost_.ms > 0 ? std::log1p(std::sqrt(squares) / cost_.ms) : 0;
    return std::move(cost_);
  }

 private:
  StepCost cost_;
};

/// Does that operation's table name the kernel?
bool runs(const KernelSource& source, const KernelShape& shape, std::string_view kernel) {
  const Operation* operation = find_operation(source, key_of(shape));
  if (operation == nullptr || kernel.empty()) return false;
  return std::any_of(operation->kernels.begin(), operation->kernels.end(),
                     [&](const std::string& name) { return name.find(kernel) != name.npos; });
}

KernelTime with(KernelTime time, double add_ms) {
  const double factor = time.ms > 0 ? (time.ms + add_ms) / time.ms : 1;
  time.ms *= factor;
  time.low_ms *= factor;
  time.high_ms *= factor;
  return time;
}

/// The kernel as the framework runs it: its tables hold calls that were timed alone.
KernelTime as_served(const KernelSource& source, const FrameworkConstants& framework, std::int64_t gpus,
                     const LayerKernel& kernel) {
  KernelTime time = predict_kernel(source, kernel.name, kernel.request);
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.request.shape);
      gemm != nullptr && gemm->dtype == Dtype::nvfp4) {
    // the all-reduce of several GPUs writes the norm of its sum already quantised
    const bool alone = kernel.name == "output_projection" || kernel.name == "down_projection" || gpus == 1;
    return kernel.name != "shared_expert" && alone ? with(time, framework.quantise_us / 1e3) : time;
  }
  if (kernel.name == "all_reduce") {
    AttentionShape decode;
    decode.kv_len = 2;
    decode.kv = Dtype::fp8;
    const bool waits = runs(source, decode, framework.skewed);
    return waits ? with(time, framework.skew_us * std::log2(static_cast<double>(gpus) / 2) / 1e3) : time;
  }
  if (const auto* latent = std::get_if<MlaShape>(&kernel.request.shape);
      latent != nullptr && latent->decode && runs(source, *latent, framework.eager_latent))
    return with(time, -std::min(framework.latent_start_us / 1e3, time.ms / 2));
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.request.shape);
      attention != nullptr && attention->q_len == 1 && attention->kv == Dtype::fp8 &&
      runs(source, *attention, framework.fp8_cache_as_bf16)) {
    AttentionShape wide = *attention;
    wide.kv = Dtype::bf16;
    const KernelTime other = predict_kernel(source, kernel.name, {wide});
    if (other.ms > time.ms) return other;
  }
  return time;
}

/// The layer's element-wise kernels over the rows of a step.
void add_pointwise(const KernelSource& source, const Layer& layer, const StepWork& work, double times,
                   Sum& sum) {
  Layer local = local_layer(layer);
  local.phase = work.prompts > 0 ? Phase::prefill : Phase::decode;
  local.seq_len = work.prompts > 0 ? tokens_of(work) : work.decode_keys;
  local.batch_size = work.prompts > 0 ? 1 : work.decodes;
  local.window_size = 0;
  for (const PointwiseKernel& kernel : predict_pointwise(source, local)) {
    if (runs_pointwise(source, layer, kernel.role)) sum.add(kernel.time.name, kernel.time, times);
  }
}

void add_layer(const Predictor& predictor, const Layer& layer, const StepWork& work, double times, Sum& sum) {
  const KernelSource& source = *predictor.source;
  const FrameworkConstants& framework = *find_framework(predictor.source_name);
  const LayerKind kind = work.prompts > 0 ? LayerKind::prefill : LayerKind::decode;
  for (const LayerKernel& kernel : layer_kernels(layer, work)) {
    KernelTime alone = as_served(source, framework, layer.tp, kernel);
    const bool attends = std::holds_alternative<AttentionShape>(kernel.request.shape);
    if (attends && (layer.softcap || layer.sinks))  // no kernel of either was measured
      alone.provenance = std::max(alone.provenance, Provenance::extrapolated);
    sum.add(kernel.name, kernel.in_layer ? inside_layer(source, kind, alone) : alone, times);
  }
  add_pointwise(source, layer, work, times, sum);
}

}  // namespace

StepCost cost_step(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                   const StepWork& work) {
  Sum sum;
  const std::int64_t rows = tokens_of(work);
  const std::int64_t words = work.decodes + work.prompts;
  const std::int64_t h = model.hidden_dim;
  sum.add("embedding", predict_embedding(predictor, "embedding", rows, h), 1);
  for (std::size_t i = 0; i < model.layers.size();) {
    std::size_t end = i + 1;
    while (end < model.layers.size() && same_kernels(model.layers[i], model.layers[end])) ++end;
    add_layer(predictor, layer_of(model, model.layers[i], deployment), work, static_cast<double>(end - i),
              sum);
    i = end;
  }
  sum.add("final_norm", predict_rmsnorm(predictor, "final_norm", rows, h), 1);
  const LmHead head = lm_head_of(model, deployment, words);
  sum.add("lm_head", predict_kernel(*predictor.source, "lm_head", {head.product}), 1);
  if (head.gather)
    sum.add("logits_all_gather", predict_kernel(*predictor.source, "logits_all_gather", {*head.gather}), 1);
  return sum.done();
}

double roofline_step_ms(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                        const StepWork& work) {
  const Machine& machine = predictor.source->machine;
  double us = 0;
  const auto rate_of = [&](const KernelRequest& request) {
    return family_of(key_of(request.shape).kind).roofline_us(machine, request.shape);
  };
  for (std::size_t i = 0; i < model.layers.size();) {
    std::size_t end = i + 1;
    while (end < model.layers.size() && same_kernels(model.layers[i], model.layers[end])) ++end;
    for (const LayerKernel& kernel : layer_kernels(layer_of(model, model.layers[i], deployment), work))
      us += static_cast<double>(end - i) * rate_of(kernel.request);
    i = end;
  }
  const std::int64_t vocab = (model.vocab_size + deployment.tp - 1) / deployment.tp;
  us += rate_of({GemmShape{work.decodes + work.prompts, vocab, model.hidden_dim, Dtype::bf16}});
  return us / 1e3;
}

}  // namespace plumbline
