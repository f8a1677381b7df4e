// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/prediction_json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{' && out.back() != '[') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

void append_number(std::string& out, std::string_view key, double value) {
  append_key(out, key);
  out += format_double(value);
}

void append_text(std::string& out, std::string_view key, std::string_view value) {
  append_key(out, key);
  out += write_json_line(Json(value));
}

/// A literal that needs no escapes.
void append_word(std::string& out, std::string_view key, std::string_view value) {
  append_key(out, key);
  out += '"';
  out += value;
  out += '"';
}

/// Kernels in the order of their names, as every map here is written.
std::array<const KernelTime*, kMaxKernels> sorted_kernels(const Prediction& prediction) {
  std::array<const KernelTime*, kMaxKernels> order{};
  for (std::size_t i = 0; i < prediction.kernel_count; ++i) order[i] = &prediction.kernel_storage[i];
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(prediction.kernel_count),
            [](const KernelTime* a, const KernelTime* b) { return a->name < b->name; });
  return order;
}

/// What was measured of exactly these kernels alone, where the source kept any.
void append_measured(std::string& out, const Predictor& predictor, const Layer& layer,
                     const std::array<const KernelTime*, kMaxKernels>& kernels, std::size_t count) {
  if (predictor.source == nullptr || predictor.source->kept.empty()) return;
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto alone = kept_measurement(*predictor.source, layer, kernels[i]->name);
    if (!alone) continue;
    if (!any) {
      append_key(out, "measured_alone_ms");
      out += '{';
      any = true;
    }
    append_number(out, kernels[i]->name, *alone);
  }
  if (any) out += '}';
}

void append_tiles(std::string& out, const Prediction& prediction) {
  append_key(out, "tile_penalties");
  out += '{';
  std::array<const TilePenalty*, 3> order{&prediction.tile_penalties[0], &prediction.tile_penalties[1],
                                          &prediction.tile_penalties[2]};
  std::sort(order.begin(), order.end(),
            [](const TilePenalty* a, const TilePenalty* b) { return a->dimension < b->dimension; });
  for (const TilePenalty* tile : order) {
    append_key(out, tile->dimension);
    out += tile->aligned_128 ? "{\"aligned_128\":true" : "{\"aligned_128\":false";
    append_number(out, "efficiency", tile->efficiency);
    append_key(out, "value");
    out += std::to_string(tile->value);
    append_number(out, "wasted_work_pct", tile->wasted_work_pct);
    out += '}';
  }
  out += '}';
}

Json count_json(Count count) {
  if (count <= INT64_MAX) return static_cast<std::int64_t>(count);
  return static_cast<double>(count);
}

Json part_json(const KernelTime& part) {
  return {{"ms", part.ms},
          {"low_ms", part.low_ms},
          {"high_ms", part.high_ms},
          {"bound", to_string(part.bound)},
          {"provenance", to_string(part.provenance)}};
}

Json group_json(const LayerGroup& group) {
  Json layer = layer_json(group.shape);
  layer.erase("name");
  const Prediction& p = group.prediction;
  return {{"type", group.shape.window_size > 0 ? "sliding_attention" : "full_attention"},
          {"count", group.indices.size()},
          {"indices", group.indices},
          {"layer", layer},
          {"parameters", group.parameters},
          {"attention_flops", count_json(group.attention_flops)},
          {"flops", count_json(group.flops)},
          {"total_ms", p.total_ms},
          {"low_ms", p.low_ms},
          {"high_ms", p.high_ms},
          {"bottleneck", p.kernels()[p.bottleneck].name},
          {"per_kernel", per_kernel_json(p)},
          {"bound", bound_json(p)},
          {"provenance", to_string(weakest_provenance(p))}};
}

}  // namespace

Json layer_json(const Layer& layer) {
  Json json{{"name", layer.name},
            {"use_qk_norm", layer.use_qk_norm},
            {"phase", to_string(layer.phase)},
            {"activation", to_string(layer.activation)},
            {"backend", to_string(layer.backend)}};
  for (const LayerField& field : layer_fields()) json[std::string(field.name)] = layer.*field.member;
  if (layer.window_size <= 0) json["window_size"] = nullptr;
  return json;
}

Json tile_penalties_json(const Prediction& prediction) {
  Json json = Json::object();
  for (const TilePenalty& tile : prediction.tile_penalties) {
    json[std::string(tile.dimension)] = {{"value", tile.value},
                                         {"aligned_128", tile.aligned_128},
                                         {"efficiency", tile.efficiency},
                                         {"wasted_work_pct", tile.wasted_work_pct}};
  }
  return json;
}

Json per_kernel_json(const Prediction& prediction) {
  Json json = Json::object();
  for (const KernelTime& kernel : prediction.kernels()) json[std::string(kernel.name)] = kernel.ms;
  return json;
}

Json bound_json(const Prediction& prediction) {
  Json json = Json::object();
  for (const KernelTime& kernel : prediction.kernels()) {
    json[std::string(kernel.name)] = to_string(kernel.bound);
  }
  return json;
}

Json kernels_json(const Prediction& prediction) {
  Json json = Json::array();
  for (const KernelTime& kernel : prediction.kernels()) {
    Json each = part_json(kernel);
    each["name"] = kernel.name;
    json.push_back(std::move(each));
  }
  return json;
}

void append_prediction_line(std::string& out, const Predictor& predictor, const Layer& layer,
                            std::int64_t row, const Prediction& prediction) {
  const auto kernels = sorted_kernels(prediction);
  out += '{';
  append_word(out, "bottleneck", prediction.kernels()[prediction.bottleneck].name);
  append_key(out, "bound");
  out += '{';
  for (std::size_t i = 0; i < prediction.kernel_count; ++i) {
    append_word(out, kernels[i]->name, to_string(kernels[i]->bound));
  }
  out += '}';
  append_text(out, "hardware", predictor.hardware);
  append_number(out, "high_ms", prediction.high_ms);
  if (predictor.model != LatencyModel::proxy) {
    append_key(out, "kernels");
    out += write_json_line(kernels_json(prediction));
  }
  append_number(out, "low_ms", prediction.low_ms);
  append_measured(out, predictor, layer, kernels, prediction.kernel_count);
  append_word(out, "model", to_string(predictor.model));
  append_number(out, "ms_per_mparam_proxy", prediction.ms_per_mparam_proxy);
  append_text(out, "name", layer.name);
  append_key(out, "per_kernel");
  out += '{';
  for (std::size_t i = 0; i < prediction.kernel_count; ++i) {
    append_number(out, kernels[i]->name, kernels[i]->ms);
  }
  out += '}';
  append_word(out, "provenance", to_string(weakest_provenance(prediction)));
  append_key(out, "row");
  out += std::to_string(row);
  append_tiles(out, prediction);
  append_number(out, "total_ms", prediction.total_ms);
  out += '}';
}

Json model_cost_json(const Predictor& predictor, const Transformer& model, const Workload& workload,
                     const ModelCost& cost) {
  Json groups = Json::array();
  for (const LayerGroup& group : cost.groups) groups.push_back(group_json(group));
  return {{"model_type", model.model_type},
          {"hardware", predictor.hardware},
          {"model", to_string(predictor.model)},
          {"phase", to_string(workload.phase)},
          {"seq_len", workload.seq_len},
          {"batch_size", workload.batch_size},
          {"logits", workload.phase == Phase::prefill && workload.all_logits ? "all" : "last"},
          {"layers", model.layers.size()},
          {"vocab_size", model.vocab_size},
          {"tied_embeddings", model.tied_embeddings},
          {"parameters", parameter_count(model)},
          {"embedding_parameters", model.embedding_parameters},
          {"lm_head_parameters", model.lm_head_parameters},
          {"final_norm_parameters", model.final_norm_parameters},
          {"kv_bytes_per_token", kv_bytes_per_token(model)},
          {"kv_bytes", count_json(Count{kv_bytes(model, workload.seq_len)} * workload.batch_size)},
          {"flops", count_json(cost.flops)},
          {"layer_types", groups},
          {"embedding", part_json(cost.embedding)},
          {"final_norm", part_json(cost.final_norm)},
          {"lm_head", part_json(cost.lm_head)},
          {"total_ms", cost.total_ms},
          {"low_ms", cost.low_ms},
          {"high_ms", cost.high_ms},
          {"tokens_per_second", cost.tokens_per_second},
          {"notes", model.notes}};
}

}  // namespace plumbline
