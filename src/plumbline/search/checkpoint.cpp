// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

constexpr std::array<std::string_view, 3> kFates{"searched", "bounded", "refused"};

Json top_json(const SearchState& state) {
  Json list = Json::array();
  for (const Candidate& each : state.top.best)
    list.push_back({{"number", each.number}, {"value", each.value}});
  return list;
}

Json front_json(const Problem& problem, const SearchState& state) {
  Json list = Json::array();
  for (const FrontPoint& each : state.front.points) {
    Json values = Json::array();
    for (std::size_t i = 0; i < problem.front.size(); ++i) values.push_back(each.value[i]);
    list.push_back({{"number", each.number}, {"values", std::move(values)}});
  }
  return list;
}

Json tally_json(const Problem& problem, const Tally& tally) {
  Json rejected = Json::array();
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) rejected.push_back(tally.rejected[i]);
  return {{"seen", tally.seen}, {"pruned", tally.pruned}, {"rejected", std::move(rejected)}};
}

/// Whole numbers as such, so that a reader's sums are exact.
Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    if (std::floor(value) == value && std::abs(value) < 9e15) {
      list.push_back(static_cast<std::int64_t>(value));
    } else {
      list.push_back(value);
    }
  }
  return list;
}

}  // namespace

Json checkpoint_json(const Problem& problem, const SearchState& state) {
  Json fates = Json::array();
  for (const SlabFate fate : state.fates) fates.push_back(static_cast<int>(fate));
  return {{"schema_version", 1},
          {"kind", "plumbline-search-checkpoint"},
          {"key", problem.key},
          {"next", state.next},
          {"fates", std::move(fates)},
          {"top", top_json(state)},
          {"front", front_json(problem, state)},
          {"tally", tally_json(problem, state.tally)}};
}

Parsed<SearchState> parse_checkpoint(std::string_view text, const std::string& file, const Problem& problem,
                                     const Engine& engine) {
  auto document = parse_json(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  const auto refuse = [&](const char* message) {
    return failed<SearchState>(diagnose("search-checkpoint", message, {file, 0, 0}));
  };
  const Json& json = *document.value;
  if (!json.is_object() || json.value("kind", Json()) != "plumbline-search-checkpoint")
    return refuse("not a checkpoint of a search");
  if (json.value("key", Json()) != problem.key) return refuse("of another space, hardware or version");
  SearchState state = engine.start();
  try {
    state.next = json.at("next").get<std::size_t>();
    for (const Json& each : json.at("fates")) state.fates.push_back(static_cast<SlabFate>(each.get<int>()));
    for (const Json& each : json.at("top"))
      state.top.add({each.at("value").get<double>(), each.at("number").get<std::int64_t>()});
    for (const Json& each : json.at("front")) {
      FrontPoint point;
      point.number = each.at("number").get<std::int64_t>();
      for (std::size_t i = 0; i < problem.front.size(); ++i)
        point.value[i] = each.at("values").at(i).get<double>();
      state.front.add(point);
    }
    const Json& tally = json.at("tally");
    state.tally.seen = tally.at("seen").get<std::int64_t>();
    state.tally.pruned = tally.at("pruned").get<std::int64_t>();
    state.tally.rejected = tally.at("rejected").get<std::vector<std::int64_t>>();
  } catch (const Json::exception&) {
    return refuse("a field is missing or of another kind");
  }
  if (state.next > engine.order().size() || state.fates.size() != state.next ||
      state.tally.rejected.size() != problem.constraints.size())
    return refuse("its parts do not belong together");
  return {std::move(state), {}};
}

Json certificate_json(const Problem& problem, const Engine& engine, const SearchState& state) {
  Json dimensions = Json::array(), definitions = Json::array(), tables = Json::array(),
       constraints = Json::array(), front = Json::array(), slabs = Json::array();
  for (std::size_t d = 0; d < problem.symbols.size(); ++d) {
    dimensions.push_back({{"name", problem.symbols[d]},
                          {"values", numbers(problem.space.dimensions[d].values)},
                          {"cuts", engine.cuts()[d]}});
  }
  for (const auto& [name, text] : problem.definitions) definitions.push_back({name, text});
  for (const CostTable& table : problem.tables) {
    Json of = Json::array();
    for (const int d : table.dimensions) of.push_back(problem.symbols[static_cast<std::size_t>(d)]);
    tables.push_back({{"name", table.name},
                      {"dimensions", std::move(of)},
                      {"kernels", table.kernels},
                      {"values", numbers(table.values)}});
  }
  for (const ProblemRoot& each : problem.constraints)
    constraints.push_back({{"name", each.name}, {"expr", each.text}});
  for (const ProblemRoot& each : problem.front) front.push_back(each.text);
  std::vector<std::string_view> fates(engine.slabs().size());
  for (std::size_t i = 0; i < state.fates.size(); ++i)
    fates[engine.order()[i]] = kFates[static_cast<std::size_t>(state.fates[i])];
  for (std::size_t i = 0; i < fates.size(); ++i) {
    const Slab& slab = engine.slabs()[i];
    slabs.push_back({slab.bound, fates[i],
                     slab.refused_by < 0
                         ? Json()
                         : Json(problem.constraints[static_cast<std::size_t>(slab.refused_by)].name)});
  }
  return {{"schema_version", 1},
          {"kind", "plumbline-search-certificate"},
          {"space", problem.space.name},
          {"shapes", problem.shapes},
          {"limit", problem.space.top},
          {"dimensions", std::move(dimensions)},
          {"definitions", std::move(definitions)},
          {"tables", std::move(tables)},
          {"constraints", std::move(constraints)},
          {"objective", problem.objective.text},
          {"front_objectives", std::move(front)},
          {"slabs", std::move(slabs)},
          {"top", top_json(state)},
          {"front", front_json(problem, state)},
          {"tally", tally_json(problem, state.tally)}};
}

}  // namespace plumbline
