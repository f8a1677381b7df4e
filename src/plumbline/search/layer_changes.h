// SPDX-License-Identifier: Apache-2.0
// A layer with one dimension changed at a time: what each change does to time and size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/model/predict.h"

namespace plumbline {

/// One change.
struct LayerChange {
  std::string dimension;
  std::int64_t from = 0, to = 0;
  double total_ms = 0;
  double ms_pct = 0;          ///< time against the layer as it is
  double parameters_pct = 0;  ///< parameters of its GEMMs, likewise
};

/// hidden_dim and ffn_dim by 128 and 256 down and up, head_dim to the next usual widths, heads by one group,
/// KV heads, seq_len and batch_size halved and doubled; of a layer with parts also moe_ffn_dim like ffn_dim,
/// and tp halved and doubled. Changes that make no valid layer, or one that the model cannot cost, are left
/// out. `layer` is valid and supported.
std::vector<LayerChange> layer_changes(const Predictor& predictor, const Layer& layer);

}  // namespace plumbline
