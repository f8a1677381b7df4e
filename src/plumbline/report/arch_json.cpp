// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/arch_json.h"

#include <nlohmann/json.hpp>

#include "plumbline/report/prediction_json.h"

namespace plumbline {
namespace {

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json base_json(const Sweep& sweep) {
  Json base = layer_json(sweep.base);
  base.erase("name");
  base.erase(sweep.range.dimension);
  return base;
}

Json entry_json(const Layer& layer, const Prediction& p, LatencyModel model) {
  Json json{{"name", layer.name},
            {"total_ms", p.total_ms},
            {"low_ms", p.low_ms},
            {"high_ms", p.high_ms},
            {"per_kernel", per_kernel_json(p)},
            {"bound", bound_json(p)},
            {"bottleneck", p.kernels()[p.bottleneck].name},
            {"provenance", to_string(weakest_provenance(p))},
            {"tile_penalties", tile_penalties_json(p)},
            {"ms_per_mparam_proxy", p.ms_per_mparam_proxy}};
  if (model == LatencyModel::proxy) return json;
  json["kernels"] = kernels_json(p);
  json["band"] = band_scope(p);
  if (p.any_card()) json["within_card"] = {{"low_ms", p.within_low_ms}, {"high_ms", p.within_high_ms}};
  return json;
}

Json ranking_json(const ArchReport& report, const GpuReport& gpu, std::size_t metric) {
  Json list = Json::array();
  for (const std::size_t i : gpu.rankings[metric]) {
    const Prediction& p = gpu.predictions[i];
    list.push_back({{"rank", list.size() + 1},
                    {"name", report.layers[i].name},
                    {"total_ms", p.total_ms},
                    {"ms_per_mparam_proxy", p.ms_per_mparam_proxy},
                    {"bottleneck", p.kernels()[p.bottleneck].name}});
  }
  return list;
}

Json rankings_json(const ArchReport& report, const GpuReport& gpu) {
  Json json = Json::object();
  for (std::size_t m = 0; m < kReportMetrics.size(); ++m) {
    json[std::string(to_string(kReportMetrics[m]))] = ranking_json(report, gpu, m);
  }
  return json;
}

Json summary_json(const ArchReport& report, const GpuReport& gpu) {
  if (gpu.rankings[0].empty()) return nullptr;  // no layer passes the preset
  const std::size_t efficient = gpu.rankings[0].front();
  const std::size_t fastest = gpu.rankings[1].front();
  return {{"fastest_config", report.layers[fastest].name},
          {"fastest_total_ms", gpu.predictions[fastest].total_ms},
          {"most_efficient_config", report.layers[efficient].name},
          {"most_efficient_ms_per_mparam_proxy", gpu.predictions[efficient].ms_per_mparam_proxy}};
}

Json gpu_json(const ArchReport& report, const GpuReport& gpu) {
  Json comparison = Json::array();
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    comparison.push_back(entry_json(report.layers[i], gpu.predictions[i], gpu.predictor.model));
  }
  Json cliffs = Json::array();
  for (const Sweep& sweep : gpu.cliffs) cliffs.push_back(sweep_json(sweep));
  return {
      {"name", gpu.predictor.hardware},
      {"model", to_string(gpu.predictor.model)},
      {"kernel_source", gpu.predictor.source_name.empty() ? Json(nullptr) : Json(gpu.predictor.source_name)},
      {"comparison", comparison},
      {"rankings", rankings_json(report, gpu)},
      {"kernel_cliffs", cliffs},
      {"summary", summary_json(report, gpu)}};
}

/// The rules, and those that each layer fails.
Json preset_json(const ArchReport& report) {
  const PresetVerdict& preset = *report.preset;
  Json rules = Json::array(), layers = Json::array();
  for (const SpaceConstraint& each : preset.rules)
    rules.push_back({{"name", each.name}, {"expression", each.expression.text}});
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    Json fails = Json::array();
    for (const std::size_t rule : preset.failed[i]) fails.push_back(preset.rules[rule].name);
    layers.push_back(
        {{"name", report.layers[i].name}, {"passes", preset.passes(i)}, {"fails", std::move(fails)}});
  }
  return {{"name", preset.name},
          {"rules", std::move(rules)},
          {"passed", preset.passed()},
          {"layers", std::move(layers)}};
}

Json agreement_json(const ArchReport& report, const Agreement& each) {
  Json moved = Json::array();
  for (const std::size_t i : each.moved) moved.push_back(report.layers[i].name);
  return {{"a", each.a},
          {"b", each.b},
          {"metric", to_string(each.metric)},
          {"comparable", each.comparable},
          {"pairs", each.pairs},
          {"discordant_pairs", each.comparable ? Json(each.discordant_pairs) : Json(nullptr)},
          {"kendall_tau", optional_json(each.kendall_tau)},
          {"moved", moved}};
}

/// The original's view of a layer: nine fields, no name.
Json noeris_config(const Layer& layer) {
  Json json{{"use_qk_norm", layer.use_qk_norm}};
  for (const LayerField& field : layer_fields()) json[std::string(field.name)] = layer.*field.member;
  if (layer.window_size <= 0) json["window_size"] = nullptr;
  return json;
}

double kernel_ms(const Prediction& prediction, std::string_view name) {
  for (const KernelTime& kernel : prediction.kernels()) {
    if (kernel.name == name) return kernel.ms;
  }
  return 0;  // not reached: the proxy always has the three kernels asked for
}

Json noeris_cliff(const Sweep& sweep) {
  Json values = Json::array();
  for (const SweepPoint& point : sweep.points) {
    const Prediction& p = point.prediction;
    const TilePenalty tile = tile_penalty("", point.value);
    values.push_back({{sweep.range.dimension, point.value},
                      {"total_ms", p.total_ms},
                      {"aligned_128", tile.aligned_128},
                      {"tile_efficiency", tile.efficiency},
                      {"wasted_work_pct", tile.wasted_work_pct},
                      {"bottleneck", p.kernels()[p.bottleneck].name}});
  }
  Json base = noeris_config(sweep.base);
  base.erase(sweep.range.dimension);
  return {{"base_config", base}, {"values", values}};
}

}  // namespace

Json sweep_json(const Sweep& sweep) {
  Json values = Json::array();
  for (const SweepPoint& point : sweep.points) {
    const Prediction& p = point.prediction;
    const auto& tile = point.tile;
    values.push_back({{"value", point.value},
                      {"total_ms", p.total_ms},
                      {"low_ms", p.low_ms},
                      {"high_ms", p.high_ms},
                      {"aligned_128", tile ? Json(tile->aligned_128) : Json(nullptr)},
                      {"tile_efficiency", tile ? Json(tile->efficiency) : Json(nullptr)},
                      {"wasted_work_pct", tile ? Json(tile->wasted_work_pct) : Json(nullptr)},
                      {"step_pct", optional_json(point.step_pct)},
                      {"excess_pct", optional_json(point.excess_pct)},
                      {"bottleneck", p.kernels()[p.bottleneck].name}});
  }
  return {{"dimension", sweep.range.dimension},
          {"base", base_json(sweep)},
          {"values", values},
          {"values_refused", sweep.values_refused}};
}

Json arch_report_json(const ArchReport& report) {
  Json layers = Json::array();
  for (const Layer& layer : report.layers) layers.push_back(layer_json(layer));
  Json gpus = Json::array();
  for (const GpuReport& gpu : report.gpus) gpus.push_back(gpu_json(report, gpu));
  Json json{{"schema", kArchSchema},
            {"schema_version", kArchSchemaVersion},
            {"layers", layers},
            {"hardware", gpus},
            {"left_out", Json::array()}};
  for (const LeftOut& each : report.left_out) {
    json["left_out"].push_back({{"hardware", each.hardware}, {"reason", each.reason}});
  }
  if (report.preset) json["preset"] = preset_json(report);
  if (report.gpus.size() > 1) {
    json["agreement"] = Json::array();
    for (const Agreement& each : report.agreement) json["agreement"].push_back(agreement_json(report, each));
  }
  return json;
}

Json noeris_report_json(const ArchReport& report, const GpuReport& gpu) {
  Json comparison = Json::array();
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const Prediction& p = gpu.predictions[i];
    comparison.push_back({{"name", report.layers[i].name},
                          {"config", noeris_config(report.layers[i])},
                          {"total_ms", p.total_ms},
                          {"attention_ms", kernel_ms(p, "attention")},
                          {"mlp_ms", kernel_ms(p, "geglu_mlp")},
                          {"matmul_ms", kernel_ms(p, "qkv_projection") + kernel_ms(p, "output_projection")},
                          {"per_kernel", per_kernel_json(p)},
                          {"bottleneck", p.kernels()[p.bottleneck].name},
                          {"tile_penalties", tile_penalties_json(p)},
                          {"ms_per_mparam_proxy", p.ms_per_mparam_proxy}});
  }
  Json cliffs = Json::object();
  for (const Sweep& sweep : gpu.cliffs) cliffs[sweep.range.dimension] = noeris_cliff(sweep);
  return {{"schema_version", 1},
          {"experiment", "kernel_aware_nas"},
          {"hardware", gpu.predictor.hardware},
          {"candidate_count", report.layers.size()},
          {"comparison", comparison},
          {"rankings", rankings_json(report, gpu)},
          {"kernel_cliffs", cliffs},
          {"summary", summary_json(report, gpu)}};
}

}  // namespace plumbline
