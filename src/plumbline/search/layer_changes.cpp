// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/layer_changes.h"

#include <array>

namespace plumbline {
namespace {

constexpr std::array<std::int64_t, 7> kHeadDims{32, 64, 96, 128, 192, 256, 512};

/// Values beside the layer's own, ascending.
std::vector<std::int64_t> values_beside(const Layer& layer, const LayerField& field) {
  const std::int64_t at = layer.*field.member;
  if (follows(layer, field)) return {};
  if (field.name == "hidden_dim" || field.name == "ffn_dim" || field.name == "moe_ffn_dim")
    return {at - 256, at - 128, at + 128, at + 256};
  if (field.name == "num_heads") return {at - layer.num_kv_heads, at + layer.num_kv_heads};
  if (field.name == "head_dim") {
    std::int64_t below = 0, above = 0;
    for (const std::int64_t usual : kHeadDims) {
      if (usual < at) below = usual;
      if (usual > at && above == 0) above = usual;
    }
    return {below, above};
  }
  if (field.name == "window_size") return {};
  return {at % 2 == 0 ? at / 2 : 0, at * 2};
}

double parameters_of(const Prediction& prediction) {
  return prediction.ms_per_mparam_proxy > 0 ? prediction.total_ms / prediction.ms_per_mparam_proxy : 0;
}

}  // namespace

std::vector<LayerChange> layer_changes(const Predictor& predictor, const Layer& layer) {
  std::vector<LayerChange> out;
  const Prediction base = predict(predictor, layer);
  const double parameters = parameters_of(base);
  std::vector<LayerField> fields(layer_fields().begin(), layer_fields().end());
  if (layer.experts > 0) fields.push_back(*find_layer_field("moe_ffn_dim"));
  if (has_parts(layer)) fields.push_back(*find_layer_field("tp"));
  for (const LayerField& field : fields) {
    for (const std::int64_t value : values_beside(layer, field)) {
      Layer changed = layer;
      changed.*field.member = value;
      settle(changed);
      if (!validate(changed).empty() || unsupported(predictor, changed)) continue;
      const Prediction p = predict(predictor, changed);
      LayerChange one{std::string(field.name), layer.*field.member, value, p.total_ms, 0, 0};
      one.ms_pct = 100 * (p.total_ms / base.total_ms - 1);
      if (parameters > 0) one.parameters_pct = 100 * (parameters_of(p) / parameters - 1);
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace plumbline
