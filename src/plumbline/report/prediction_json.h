// SPDX-License-Identifier: Apache-2.0
// Layers, predictions and whole models as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "plumbline/base/json.h"
#include "plumbline/model/predict.h"
#include "plumbline/search/model_cost.h"

namespace plumbline {

/// A layer's fields; window_size is null for full attention.
Json layer_json(const Layer& layer);

/// {"hidden_dim": {"value", "aligned_128", "efficiency", "wasted_work_pct"}, …}.
Json tile_penalties_json(const Prediction& prediction);

/// {"attention": 0.44, …}.
Json per_kernel_json(const Prediction& prediction);

/// {"attention": "tensor", …}: what binds each kernel.
Json bound_json(const Prediction& prediction);

/// The kernels in order, each with its band and provenance.
Json kernels_json(const Prediction& prediction);

/// Appends one object on one line, keys sorted, no line break: name, row, hardware, model, total_ms, low_ms,
/// high_ms, per_kernel, bound, bottleneck, provenance, tile_penalties, ms_per_mparam_proxy, and, from a model
/// with bands, kernels, band (band_scope), within_card where that differs, and notes where window_note() says
/// something. Written by hand: a million of them are a stream, not a tree.
void append_prediction_line(std::string& out, const Predictor& predictor, const Layer& layer,
                            std::int64_t row, const Prediction& prediction);

/// What is needed of a GPU's memory and what fits; null where the GPU's size is not known.
Json memory_json(const MemoryUse& memory);

/// A whole model's counts and cost.
Json model_cost_json(const Predictor& predictor, const Transformer& model, const Workload& workload,
                     const Deployment& deployment, const ModelCost& cost);

}  // namespace plumbline
