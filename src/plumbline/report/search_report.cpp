// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/search_report.h"

#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/report/search_tables.h"

namespace plumbline {
namespace {

constexpr std::size_t kShown = 10;

Json number_json(double value) {
  if (std::floor(value) == value && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

Json shape_json(const Problem& problem, const ShapeAnswer& shape) {
  Json dimensions = Json::object(), quantities = Json::object();
  for (const auto& [name, value] : shape.dimensions) dimensions[name] = number_json(value);
  for (const auto& [name, value] : shape.quantities) quantities[name] = number_json(value);
  Json out{{"number", shape.number},
           {"objective", detail::asked_value(problem.space.objective, shape.value)},
           {"dimensions", std::move(dimensions)},
           {"quantities", std::move(quantities)},
           {"weighted_low_ms", shape.low_ms},
           {"weighted_high_ms", shape.high_ms},
           {"tie_with_best", shape.tie}};
  return out;
}

/// A point of a front: a shape with the front's objectives.
Json front_json(const Problem& problem, const std::vector<ShapeAnswer>& shapes) {
  Json list = Json::array();
  for (const ShapeAnswer& each : shapes) {
    Json point = shape_json(problem, each);
    point["front"] = Json::array();
    for (std::size_t i = 0; i < each.front.size(); ++i)
      point["front"].push_back(detail::asked_value(problem.space.front[i], each.front[i]));
    list.push_back(std::move(point));
  }
  return list;
}

/// What nothing dominates at 90 %: the front, and these shapes.
Json undominated_json(const Problem& problem, const SearchAnswer& answer) {
  const auto front = static_cast<std::int64_t>(answer.front.size());
  return {{"rule", problem.uncertain_loss->rule},
          {"shapes", front + answer.undominated_count},
          {"on_front", front},
          {"uncertain_only", answer.undominated_count},
          {"listed", front_json(problem, answer.undominated)}};
}

Json outside_json(const LawRange& range, const OutsideLaw& outside) {
  return {{"law", range.law},
          {"parameters", {range.least_parameters, range.most_parameters}},
          {"tokens", {range.least_tokens, range.most_tokens}},
          {"tokens_outside", outside.tokens},
          {"best_outside", outside.best},
          {"front_outside", outside.front},
          {"undominated_outside", outside.undominated}};
}

/// As they are, and as percentages of the space.
Json counts_json(const Problem& problem, const Tally& tally) {
  Json rejected = Json::object();
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
    if (tally.rejected[i] > 0) rejected[problem.constraints[i].name] = tally.rejected[i];
  }
  return {{"space", problem.shapes},
          {"seen", tally.seen},
          {"pruned", tally.pruned},
          {"rejected", std::move(rejected)}};
}

}  // namespace

Json search_json(const Problem& problem, const SearchAnswer& answer) {
  Json best = Json::array(), sensitivity = Json::object(), hardware = Json::array(),
       constraints = Json::object(), front_objectives = Json::array();
  for (const ShapeAnswer& each : answer.best) best.push_back(shape_json(problem, each));
  for (const Sensitivity& each : answer.sensitivity) {
    Json entries = Json::array();
    for (const Sensitivity::Entry& entry : each.entries) {
      Json one{{"value", number_json(entry.value)}};
      if (entry.refused_by.empty()) {
        one["objective"] = detail::asked_value(problem.space.objective, entry.objective);
      } else {
        one["refused_by"] = entry.refused_by;
      }
      entries.push_back(std::move(one));
    }
    sensitivity[each.dimension] = std::move(entries);
  }
  for (std::size_t g = 0; g < problem.hardware.size(); ++g) {
    hardware.push_back({{"name", problem.hardware[g].predictor.hardware},
                        {"model", std::string(to_string(problem.hardware[g].predictor.model))},
                        {"source", problem.hardware[g].predictor.source_name},
                        {"weight", problem.space.hardware[g].weight}});
  }
  for (const SpaceConstraint& each : problem.space.constraints) constraints[each.name] = each.expression.text;
  for (const SpaceObjective& each : problem.space.front)
    front_objectives.push_back({{each.maximise ? "maximise" : "minimise", each.expression.text}});
  Json out{{"schema_version", 1},
           {"kind", "plumbline-search"},
           {"space", problem.space.name},
           {"key", problem.key},
           {"hardware", std::move(hardware)},
           {"objective",
            {{problem.space.objective.maximise ? "maximise" : "minimise",
              problem.space.objective.expression.text}}},
           {"constraints", std::move(constraints)},
           {"shapes", counts_json(problem, answer.tally)},
           {"sub_shapes", problem.sub_shapes},
           {"best", std::move(best)},
           {"sensitivity", std::move(sensitivity)}};
  if (!problem.space.front.empty()) {
    out["front"] = front_json(problem, answer.front);
    out["front_objectives"] = std::move(front_objectives);
  }
  if (problem.uncertain_loss) out["undominated_90"] = undominated_json(problem, answer);
  if (!problem.quality_note.empty()) out["quality"] = problem.quality_note;
  if (answer.outside.any()) out["outside_law"] = outside_json(*problem.law_range, answer.outside);
  return out;
}

std::string search_text(const Problem& problem, const SearchAnswer& answer, const Look& look) {
  const Tally& tally = answer.tally;
  std::string out =
      fmt::format("{}: {}\n", problem.space.name, detail::objective_title(problem.space.objective));
  out += fmt::format("  shapes    {}  (seen {}, pruned {}", format_grouped(problem.shapes),
                     format_grouped(tally.seen), format_grouped(tally.pruned));
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
    if (tally.rejected[i] > 0)
      out += fmt::format(", {} {}", problem.constraints[i].name, format_grouped(tally.rejected[i]));
  }
  out += fmt::format(")\n  kernels   {} sub-shapes timed\n", format_grouped(problem.sub_shapes));
  if (!problem.quality_note.empty()) out += fmt::format("  quality   {}\n", problem.quality_note);
  if (answer.outside.any())
    out += fmt::format("  {} {}\n", styled("warning  ", Style::warn, look.color),
                       detail::outside_text(problem, answer));
  if (answer.best.empty()) return out + "\nNo shape fulfils every constraint.\n";
  out += "\n" + render_text(detail::shape_table(problem, answer.best, kShown, false), look, 2);
  const std::size_t ties = detail::count_ties(answer);
  if (answer.best.size() > kShown) out += fmt::format("  … and {} more\n", answer.best.size() - kShown);
  if (ties > 0)
    out += fmt::format(
        "  {} of the {} best are ties: behind by less than half of the first's 90 % band ({} to {} ms "
        "weighted)\n",
        ties + 1, answer.best.size(), format_fixed(answer.best.front().low_ms, 3),
        format_fixed(answer.best.front().high_ms, 3));
  if (!answer.front.empty()) {
    out += fmt::format("\nPareto front, {} shape{}\n",
                       format_grouped(static_cast<std::int64_t>(answer.front.size())),
                       answer.front.size() == 1 ? "" : "s");
    out += render_text(detail::shape_table(problem, answer.front, kShown, false), look, 2);
  }
  if (problem.uncertain_loss) {
    out += fmt::format("\n{}\n", detail::undominated_title(answer));
    out += fmt::format("  rule      {}\n", problem.uncertain_loss->rule);
    if (!answer.undominated.empty()) {
      out += render_text(detail::shape_table(problem, answer.undominated, kShown, false), look, 2);
      const auto more = answer.undominated_count - static_cast<std::int64_t>(kShown);
      if (more > 0) out += fmt::format("  … and {} more\n", format_grouped(more));
    }
  }
  out += "\nAround the first, one dimension changed\n";
  return out + render_text(detail::sensitivity_table(answer, true), look, 2);
}

Json config_json(const Problem& problem, const ShapeAnswer& shape) {
  const auto places = places_of(problem, shape.number);
  const auto whole = [&](const char* name, double fallback) {
    return static_cast<std::int64_t>(quantity_of(problem, places, name, fallback));
  };
  const bool norm = whole("use_qk_norm", 0) != 0;
  const std::int64_t experts = whole("num_experts", 0);
  const char* type = experts > 0 ? (norm ? "qwen3_moe" : "mixtral") : norm ? "qwen3" : "llama";
  const char* model = experts > 0 ? (norm ? "Qwen3MoeForCausalLM" : "MixtralForCausalLM")
                      : norm      ? "Qwen3ForCausalLM"
                                  : "LlamaForCausalLM";
  Json out{{"model_type", type},
           {"architectures", {model}},
           {"hidden_size", whole("hidden_dim", 0)},
           {"num_attention_heads", whole("num_heads", 0)},
           {"num_key_value_heads", whole("num_kv_heads", 0)},
           {"head_dim", whole("head_dim", 0)},
           {"intermediate_size", whole("ffn_dim", 0)},
           {"num_hidden_layers", whole("num_layers", 1)},
           {"vocab_size", whole("vocab_size", 0)},
           {"tie_word_embeddings", whole("tied_embeddings", 0) != 0},
           {"hidden_act", "silu"},
           {"torch_dtype", "bfloat16"}};
  if (experts > 0) {
    const std::int64_t width = whole("expert_dim", 1024);
    out[norm ? "num_experts" : "num_local_experts"] = experts;
    out["num_experts_per_tok"] = whole("experts_per_token", 1);
    out[norm ? "moe_intermediate_size" : "intermediate_size"] = width;
  }
  if (const std::int64_t window = whole("window_size", 0); window > 0) {
    const std::int64_t every = whole("full_every", 0), layers = whole("num_layers", 1);
    Json types = Json::array();
    for (std::int64_t i = 0; i < layers; ++i)
      types.push_back(every > 0 && (i + 1) % every == 0 ? "full_attention" : "sliding_attention");
    out["sliding_window"] = window;
    out["use_sliding_window"] = true;
    out["layer_types"] = std::move(types);
    if (!norm && experts == 0) out["model_type"] = "mistral";
  }
  return out;
}

}  // namespace plumbline
