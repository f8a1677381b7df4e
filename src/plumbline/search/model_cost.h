// SPDX-License-Identifier: Apache-2.0
// A whole model's latency: its layers by type, the embedding, the final norm and the LM head.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/model/deployment.h"
#include "plumbline/model/memory.h"
#include "plumbline/model/predict.h"
#include "plumbline/model/transformer.h"

namespace plumbline {

/// What the model is asked to do.
struct Workload {
  Phase phase = Phase::prefill;
  std::int64_t seq_len = 2048;  ///< prompt length, or KV length with the new token in decode
  std::int64_t batch_size = 1;
  AttentionBackend backend = AttentionBackend::best;
  bool all_logits = false;  ///< prefill: the LM head runs on every position and not on the last alone
};

/// Layers of one shape.
struct LayerGroup {
  Layer shape;  ///< with the workload's seq_len, batch_size, phase and backend, and its parts
  std::vector<std::size_t> indices;  ///< which layers, from 0
  std::int64_t parameters = 0;       ///< of one layer
  TransformerLayer layer;            ///< the first of them
  Count attention_flops = 0;         ///< of one layer, causal
  Count flops = 0;                   ///< of one layer: projections and attention
  Prediction prediction;             ///< of one layer
};

/// A model's cost. total_ms is the sum over groups of count·total_ms, and the three parts beside the layers.
struct ModelCost {
  std::vector<LayerGroup> groups;  ///< in the order of their first layer
  KernelTime embedding;
  KernelTime final_norm;
  KernelTime lm_head;
  KernelTime logits_all_gather;  ///< of several GPUs, that each make a share of the logits
  Count flops = 0;               ///< layers and LM head
  MemoryUse memory;              ///< of one GPU of the deployment
  std::string untimed;           ///< why no time can be predicted: the times below and the groups' are then 0
  double total_ms = 0;
  double low_ms = 0;
  double high_ms = 0;
  double tokens_per_second = 0;  ///< prefill: batch·seq_len tokens a pass; decode: batch tokens a step
};

/// Costs `model`, as it is kept under the deployment (as_deployed). Counts are whole even where a layer
/// cannot be timed (`untimed` says why). Errors: those of validate() for the workload, unsupported(), and
/// layer-cannot-split.
Parsed<ModelCost> cost_model(const Predictor& predictor, const Transformer& model, const Workload& workload,
                             const Deployment& deployment = {});

}  // namespace plumbline
