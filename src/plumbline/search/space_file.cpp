// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/search/preset.h"
#include "plumbline/search/space_reader.h"

namespace plumbline {
namespace {

std::string symbol_of(std::string_view name) {
  std::string symbol(name.substr(name.find_last_of('/') == name.npos ? 0 : name.find_last_of('/') + 1));
  if (symbol.ends_with(".toml")) symbol.resize(symbol.size() - 5);
  for (char& c : symbol) {
    if (!is_identifier(std::string("x") + c)) c = '_';
  }
  return symbol;
}

void read_point(SpaceReader reader, Space& space) {
  SpacePoint out;
  out.at = location_of(reader.table().source(), reader.file());
  out.name = reader.text("name", true);
  if (const toml::node* name = reader.table().get("name"); name != nullptr && !is_identifier(out.name)) {
    reader.invalid("name", *name, "a word of letters, digits and underscores");
  }
  const std::string phase = reader.text("phase", true);
  if (const toml::node* node = reader.table().get("phase");
      node != nullptr && phase != "prefill" && phase != "decode") {
    reader.invalid("phase", *node, "\"prefill\" or \"decode\"");
  }
  out.phase = phase == "decode" ? Phase::decode : Phase::prefill;
  out.seq_len = reader.count("seq_len", 2048, 1, 1LL << 27);
  out.batch_size = reader.count("batch_size", 1, 1, 1LL << 24);
  out.weight = reader.number("weight", 1, 0, 1e9);
  if (const std::string backend = reader.text("backend"); !backend.empty()) {
    using enum AttentionBackend;
    bool found = false;
    for (const AttentionBackend each : {best, flash, cudnn, varlen}) {
      if (backend == to_string(each)) {
        out.backend = each;
        found = true;
      }
    }
    if (!found) reader.invalid("backend", *reader.table().get("backend"), "best, flash, cudnn or varlen");
  }
  reader.refuse_unknown();
  space.points.push_back(std::move(out));
}

void read_hardware(SpaceReader reader, Space& space) {
  SpaceHardware out;
  out.at = location_of(reader.table().source(), reader.file());
  out.name = reader.text("name", true);
  out.symbol = symbol_of(out.name);
  out.model = reader.text("model");
  if (!out.model.empty() && out.model != "proxy" && out.model != "measured") {
    reader.invalid("model", *reader.table().get("model"), "\"proxy\" or \"measured\"");
  }
  out.source = reader.text("source");
  out.weight = reader.number("weight", 1, 0, 1e9);
  reader.refuse_unknown();
  space.hardware.push_back(std::move(out));
}

/// "expression", { minimise = "…" } or { maximise = "…" }.
std::optional<SpaceObjective> read_goal(SpaceReader& reader, std::string_view key, const toml::node& node) {
  SpaceObjective out;
  std::optional<Expression> expression;
  if (const toml::table* table = node.as_table()) {
    SpaceReader inner(*table, std::string(key), reader.file(), reader.found());
    const toml::node* least = inner.get("minimise");
    const toml::node* most = inner.get("maximise");
    if ((least == nullptr) == (most == nullptr)) {
      reader.invalid(key, node, "either minimise = \"…\" or maximise = \"…\"");
      return std::nullopt;
    }
    out.maximise = most != nullptr;
    expression = inner.expression(out.maximise ? *most : *least, out.maximise ? "maximise" : "minimise");
    inner.refuse_unknown();
  } else {
    expression = reader.expression(node, key);
  }
  if (!expression) return std::nullopt;
  out.expression = std::move(*expression);
  return out;
}

void read_objective(SpaceReader& document, Space& space) {
  const toml::table* table = document.sub("objective");
  if (table == nullptr) {
    if (document.table().get("objective") == nullptr) document.missing("[objective]");
    return;
  }
  SpaceReader reader(*table, "[objective]", document.file(), document.found());
  const toml::node* least = reader.get("minimise");
  const toml::node* most = reader.get("maximise");
  if (least != nullptr && most != nullptr) {
    reader.invalid("maximise", *most, "absent beside minimise");
  } else if (least == nullptr && most == nullptr) {
    reader.missing("minimise (or maximise)");
  } else if (auto expression = reader.expression(least != nullptr ? *least : *most, "the objective")) {
    space.objective = {std::move(*expression), most != nullptr};
  }
  space.top = reader.count("top", 10, 1, kMaxTop);
  if (const toml::node* front = reader.get("front")) {
    const toml::array* list = front->as_array();
    if (list == nullptr || list->size() < 2 || list->size() > 3) {
      reader.invalid("front", *front, "a list of two or three objectives");
    } else {
      for (const toml::node& each : *list) {
        if (auto goal = read_goal(reader, "front", each)) space.front.push_back(std::move(*goal));
      }
    }
  }
  reader.refuse_unknown();
}

void read_quality(SpaceReader& document, Space& space) {
  const toml::table* table = document.sub("quality");
  if (table == nullptr) return;
  SpaceReader reader(*table, "[quality]", document.file(), document.found());
  SpaceQuality out;
  out.at = location_of(table->source(), document.file());
  out.csv = reader.text("csv");
  out.law = reader.text("law");
  out.tokens = reader.number("tokens", 0, 1, 1e18);
  out.scatter = reader.number("scatter", 0, 0, 1e3);
  if (out.csv.empty() == out.law.empty()) {
    reader.invalid("csv", *table, "given, or law: one of the two");
  } else if (!out.law.empty() && out.tokens == 0) {
    reader.missing("tokens");
  } else if (out.law.empty() && out.scatter != 0) {
    reader.invalid("scatter", *table->get("scatter"), "of a law; a csv has its own column, stderr");
  }
  reader.refuse_unknown();
  space.quality = std::move(out);
}

void check_names(SpaceReader& document, const Space& space) {
  std::set<std::string_view> taken;
  const auto claim = [&](const std::string& name, const Location& at, std::string_view what) {
    if (!is_identifier(name)) {
      document.found().push_back(
          diagnose("search-field-invalid",
                   fmt::format("{}: the name of a {} is a word of letters, digits and underscores",
                               printable(name), what),
                   at));
    } else if (!taken.insert(name).second) {
      document.found().push_back(diagnose("search-name-taken", fmt::format("{} appears twice", name), at));
    }
  };
  for (const auto& each : space.dimensions) claim(each.name, each.at, "dimension");
  for (const auto& each : space.derived) claim(each.name, each.expression.at, "derived quantity");
  taken.clear();
  for (const auto& each : space.points) claim(each.name, each.at, "point");
  taken.clear();
  for (const auto& each : space.hardware) claim(each.symbol, each.at, "GPU");
  taken.clear();
  for (const auto& each : space.constraints) claim(each.name, each.expression.at, "constraint");
  for (const auto& each : space.relations) claim(each.name, each.at, "relation");
}

void check_size(SpaceReader& document, const Space& space) {
  if (space.dimensions.size() > kMaxDimensions) {
    document.found().push_back(diagnose(
        "search-too-large", fmt::format("{} dimensions; at most {}", space.dimensions.size(), kMaxDimensions),
        space.dimensions.back().at));
  }
  __extension__ using Wide = unsigned __int128;
  Wide product = 1;
  for (const SpaceDimension& each : space.dimensions) {
    product *= std::max<std::size_t>(each.values.size(), 1);
    if (product > static_cast<Wide>(kMaxShapes)) {
      document.found().push_back(
          diagnose("search-too-large", "the space has more than 2^62 (4.6e18) shapes", each.at));
      return;
    }
  }
}

}  // namespace

std::int64_t shape_count(const Space& space) {
  std::int64_t product = 1;
  for (const SpaceDimension& each : space.dimensions)
    product *= static_cast<std::int64_t>(each.values.size());
  return product;
}

Parsed<Space> parse_space(std::string_view text, const std::string& file) {
  auto document = parse_toml(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  Parsed<Space> result;
  result.diagnostics = std::move(document.diagnostics);
  Space space;
  space.file = file;
  SpaceReader reader(*document.value, "", file, result.diagnostics);
  if (reader.count("schema_version", 1, 1, 1 << 30) != 1) {
    reader.invalid("schema_version", *document.value->get("schema_version"), "1");
  }
  space.name = reader.text("name");
  if (space.name.empty()) space.name = symbol_of(file);
  space.title = reader.text("title");
  if (const toml::table* table = reader.sub("dimensions")) {
    SpaceReader inner(*table, "[dimensions]", file, result.diagnostics);
    for (const auto& [key, node] : in_file_order(*table)) read_dimension(inner, key, *node, space);
  }
  if (space.dimensions.empty() && !has_errors(result.diagnostics)) reader.missing("[dimensions]");
  if (const toml::table* table = reader.sub("derived")) {
    SpaceReader inner(*table, "[derived]", file, result.diagnostics);
    for (const auto& [key, node] : in_file_order(*table)) {
      if (auto expression = inner.expression(*node, key)) {
        space.derived.push_back({std::string(key), std::move(*expression)});
      }
    }
  }
  if (const toml::node* presets = reader.get("presets")) {
    const toml::array* list = presets->as_array();
    if (list == nullptr) reader.invalid("presets", *presets, "a list of names");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      auto added = preset_constraints((*list)[i].value_or(std::string()));
      if (added.empty()) reader.invalid("presets", (*list)[i], "of: noeris-quality");
      for (SpaceConstraint& each : added) {
        each.expression.at = location_of((*list)[i].source(), file);
        space.constraints.push_back(std::move(each));
      }
    }
  }
  if (const toml::table* table = reader.sub("constraints")) {
    SpaceReader inner(*table, "[constraints]", file, result.diagnostics);
    for (const auto& [key, node] : in_file_order(*table)) read_constraint(inner, key, *node, space);
  }
  for (const toml::table* each : reader.tables("relation"))
    read_relation({*each, "[[relation]]", file, result.diagnostics}, space);
  for (const toml::table* each : reader.tables("point"))
    read_point({*each, "[[point]]", file, result.diagnostics}, space);
  for (const toml::table* each : reader.tables("hardware"))
    read_hardware({*each, "[[hardware]]", file, result.diagnostics}, space);
  read_objective(reader, space);
  read_quality(reader, space);
  reader.refuse_unknown();
  if (space.points.empty() && !has_errors(result.diagnostics)) reader.missing("[[point]]");
  if (space.hardware.empty()) space.hardware.push_back({"h200", "h200", "", "", 1, {}});
  check_names(reader, space);
  check_size(reader, space);
  if (!has_errors(result.diagnostics)) result.value = std::move(space);
  return result;
}

}  // namespace plumbline
