// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/model_cost.h"

#include <algorithm>

#include "plumbline/model/layer_parts.h"

namespace plumbline {
namespace {

void add(ModelCost& cost, double times, double ms, double low_ms, double high_ms) {
  cost.total_ms += times * ms;
  cost.low_ms += times * low_ms;
  cost.high_ms += times * high_ms;
}

Layer at_work(Layer layer, const Workload& workload) {
  layer.seq_len = workload.seq_len;
  layer.batch_size = workload.batch_size;
  layer.phase = workload.phase;
  layer.backend = workload.backend;
  return layer;
}

/// The LM head of one GPU, and the gathering of what each makes.
void add_head(ModelCost& cost, const Predictor& predictor, const Transformer& model,
              const Deployment& deployment, std::int64_t rows) {
  if (predictor.source == nullptr) {
    cost.lm_head = predict_gemm(predictor, "lm_head", rows, model.vocab_size, model.hidden_dim);
    return;
  }
  const LmHead head = lm_head_of(model, deployment, rows);
  cost.lm_head = predict_kernel(*predictor.source, "lm_head", {head.product});
  if (head.gather)
    cost.logits_all_gather = predict_kernel(*predictor.source, "logits_all_gather", {*head.gather});
}

/// Why no time is known of the model's layers, or none.
std::optional<DeploymentProblem> problem_of(const Predictor& predictor, const Transformer& model,
                                            const Deployment& deployment) {
  if (predictor.source != nullptr) return deployment_problem(predictor, model, deployment);
  if (auto reason = untimed_reason(model)) return DeploymentProblem{false, std::move(*reason)};
  const bool plain = deployment.tp == 1 && deployment.ep == 1 && !deployment.weights && !deployment.cache;
  if (plain) return std::nullopt;
  return DeploymentProblem{false, "the proxy model knows bf16 layers on one GPU only"};
}

}  // namespace

Parsed<ModelCost> cost_model(const Predictor& predictor, const Transformer& model, const Workload& workload,
                             const Deployment& deployment) {
  ModelCost cost;
  if (auto problem = problem_of(predictor, model, deployment)) {
    if (problem->split) return failed<ModelCost>(diagnose("layer-cannot-split", std::move(problem->message)));
    cost.untimed = std::move(problem->message);
  }
  const bool timed = cost.untimed.empty();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const TransformerLayer& facts = model.layers[i];
    const bool parts = timed && predictor.source != nullptr;
    const Layer layer = at_work(parts ? layer_of(model, facts, deployment) : facts.shape, workload);
    const auto same = [&](const LayerGroup& g) { return same_kernels(g.layer, facts); };
    auto group = std::find_if(cost.groups.begin(), cost.groups.end(), same);
    if (group == cost.groups.end()) {
      if (Diagnostics wrong = validate(layer); !wrong.empty()) return {std::nullopt, std::move(wrong)};
      if (auto reason = unsupported(predictor, layer)) return failed<ModelCost>(std::move(*reason));
      const Count attention = attention_flops(facts, layer);
      cost.groups.push_back({layer,
                             {},
                             facts.parameters,
                             facts,
                             attention,
                             attention + projection_flops(facts, layer),
                             timed ? predict(predictor, layer) : Prediction{}});
      group = std::prev(cost.groups.end());
    }
    group->indices.push_back(i);
  }
  const bool decode = workload.phase == Phase::decode;
  const std::int64_t rows = decode ? workload.batch_size : workload.batch_size * workload.seq_len;
  const std::int64_t logit_rows = workload.all_logits ? rows : workload.batch_size;
  const std::int64_t words = model.head == HeadKind::language_model ? model.vocab_size : 0;
  cost.flops = Count{2} * logit_rows * words * model.hidden_dim;
  for (const LayerGroup& group : cost.groups) {
    cost.flops += group.flops * static_cast<std::int64_t>(group.indices.size());
  }
  cost.memory = memory_use(model, {predictor.memory_bytes, 1, deployment.tp, rows, logit_rows,
                                   workload.batch_size, workload.seq_len});
  if (!timed) return {std::move(cost), {}};
  for (const LayerGroup& group : cost.groups) {
    const Prediction& p = group.prediction;
    add(cost, static_cast<double>(group.indices.size()), p.total_ms, p.low_ms, p.high_ms);
  }
  cost.embedding = predict_embedding(predictor, "embedding", rows, model.hidden_dim);
  cost.final_norm = predict_rmsnorm(predictor, "final_norm", rows, model.hidden_dim);
  cost.lm_head.name = "lm_head";
  if (words > 0) add_head(cost, predictor, model, deployment, logit_rows);
  for (const KernelTime* part : {&cost.embedding, &cost.final_norm, &cost.lm_head, &cost.logits_all_gather}) {
    add(cost, 1, part->ms, part->low_ms, part->high_ms);
  }
  cost.tokens_per_second = static_cast<double>(rows) / (cost.total_ms / 1e3);
  return {std::move(cost), {}};
}

}  // namespace plumbline
