// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/prediction_json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/model/measured.h"
#include "plumbline/report/window_note.h"

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

Json precision_json(const TransformerLayer& layer) {
  Json out = Json::object();
  if (layer.has_attention) out["attention"] = layer.attention.name;
  if (layer.has_mlp && layer.experts.count == 0) out["mlp"] = layer.mlp.name;
  if (layer.experts.count > 0) out["experts"] = layer.experts_precision.name;
  if (layer.experts.shared_width > 0) out["shared_experts"] = layer.shared_precision.name;
  return out;
}

std::string_view type_of(const TransformerLayer& layer) {
  if (layer.state_bytes > 0) return "recurrent";
  if (!layer.has_attention) return "no_attention";
  if (layer.latent.kv_rank > 0) return "latent_attention";
  return layer.shape.window_size > 0 ? "sliding_attention" : "full_attention";
}

Json group_json(const LayerGroup& group, bool timed) {
  Json layer = layer_json(group.shape);
  layer.erase("name");
  const Prediction& p = group.prediction;
  const TransformerLayer& facts = group.layer;
  Json out{{"type", type_of(facts)},
           {"count", group.indices.size()},
           {"indices", group.indices},
           {"layer", layer},
           {"parameters", group.parameters},
           {"active_parameters", facts.active_parameters},
           {"precision", precision_json(facts)},
           {"attention_flops", count_json(group.attention_flops)},
           {"flops", count_json(group.flops)}};
  if (facts.experts.count > 0) {
    out["experts"] = {{"count", facts.experts.count},
                      {"active", facts.experts.active},
                      {"width", facts.experts.width},
                      {"shared_width", facts.experts.shared_width}};
  }
  if (!timed) {
    for (const char* key :
         {"total_ms", "low_ms", "high_ms", "bottleneck", "per_kernel", "bound", "provenance"}) {
      out[key] = nullptr;
    }
    return out;
  }
  out["total_ms"] = p.total_ms;
  out["low_ms"] = p.low_ms;
  out["high_ms"] = p.high_ms;
  out["bottleneck"] = p.kernels()[p.bottleneck].name;
  out["per_kernel"] = per_kernel_json(p);
  out["bound"] = bound_json(p);
  out["provenance"] = to_string(weakest_provenance(p));
  return out;
}

Json timed_or_null(bool timed, double value) { return timed ? Json(value) : Json(nullptr); }

}  // namespace

Json layer_json(const Layer& layer) {
  Json json{{"name", layer.name},
            {"use_qk_norm", layer.use_qk_norm},
            {"phase", to_string(layer.phase)},
            {"activation", to_string(layer.activation)},
            {"backend", to_string(layer.backend)}};
  for (const LayerField& field : layer_fields()) json[std::string(field.name)] = layer.*field.member;
  if (layer.window_size <= 0) json["window_size"] = nullptr;
  for (const PartValue& part : part_values(layer))
    json[std::string(part.name)] = part.format.empty() ? Json(part.number) : Json(part.format);
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
  if (predictor.model != LatencyModel::proxy) append_word(out, "band", band_scope(prediction));
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
  if (const std::string note = window_note(predictor, layer); !note.empty()) {
    append_key(out, "notes");
    out += write_json_line(Json::array({note}));
  }
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
  if (prediction.any_card()) {
    append_key(out, "within_card");
    out += '{';
    append_number(out, "high_ms", prediction.within_high_ms);
    append_number(out, "low_ms", prediction.within_low_ms);
    out += '}';
  }
  out += '}';
}

Json memory_json(const MemoryUse& m) {
  const auto whole = [](double bytes) { return static_cast<std::int64_t>(bytes); };
  const auto known = [&](auto value) { return m.known ? Json(value) : Json(nullptr); };
  return {{"gpu_bytes", known(whole(m.gpu_bytes))},
          {"usable_bytes", known(whole(m.usable_bytes))},
          {"needed_bytes", whole(m.needed_bytes())},
          {"weight_bytes", whole(m.weight_bytes)},
          {"cache_bytes", whole(m.cache_bytes)},
          {"activation_bytes", whole(m.activation_bytes)},
          {"fits", known(m.fits)},
          {"max_sequences", known(m.max_sequences)},
          {"max_tokens", known(m.max_tokens)}};
}

Json model_cost_json(const Predictor& predictor, const Transformer& model, const Workload& workload,
                     const Deployment& deployment, const ModelCost& cost) {
  const bool timed = cost.untimed.empty();
  const auto part = [&](const KernelTime& time) {
    return timed && time.ms > 0 ? part_json(time) : Json(nullptr);
  };
  Json groups = Json::array();
  for (const LayerGroup& group : cost.groups) groups.push_back(group_json(group, cost.untimed.empty()));
  std::vector<std::string> notes = model.notes;
  for (std::string& note : cost_notes(predictor, cost)) notes.push_back(std::move(note));
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
          {"architecture", model.architecture.empty() ? Json(nullptr) : Json(model.architecture)},
          {"parameters", parameter_count(model)},
          {"active_parameters", active_parameter_count(model)},
          {"mtp_parameters", model.mtp_parameters},
          {"quantization", model.quantization.empty() ? Json(nullptr) : Json(model.quantization)},
          {"weight_bytes", static_cast<std::int64_t>(weight_bytes(model))},
          {"state_bytes", state_bytes(model)},
          {"embedding_parameters", model.embedding_parameters},
          {"lm_head_parameters", model.lm_head_parameters},
          {"final_norm_parameters", model.final_norm_parameters},
          {"kv_bytes_per_token", kv_bytes_per_token(model)},
          {"kv_bytes", count_json(Count{kv_bytes(model, workload.seq_len)} * workload.batch_size)},
          {"flops", count_json(cost.flops)},
          {"memory", memory_json(cost.memory)},
          {"layer_types", groups},
          {"embedding", part(cost.embedding)},
          {"final_norm", part(cost.final_norm)},
          {"lm_head", part(cost.lm_head)},
          {"logits_all_gather", part(cost.logits_all_gather)},
          {"tp", deployment.tp},
          {"ep", deployment.ep},
          {"total_ms", timed_or_null(timed, cost.total_ms)},
          {"low_ms", timed_or_null(timed, cost.low_ms)},
          {"high_ms", timed_or_null(timed, cost.high_ms)},
          {"tokens_per_second", timed_or_null(timed, cost.tokens_per_second)},
          {"untimed", timed ? Json(nullptr) : Json(cost.untimed)},
          {"notes", notes}};
}

}  // namespace plumbline
