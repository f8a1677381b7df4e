// SPDX-License-Identifier: Apache-2.0
// Dimensions, constraints and relations of a space file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/search/space_reader.h"

namespace plumbline {
namespace {

/// Values of a list: numbers or truths, in ascending order, none twice.
void read_list(SpaceReader& reader, std::string_view key, const toml::array& list, SpaceDimension& out) {
  for (const toml::node& each : list) {
    const auto value = space_value(each);
    if (!value) {
      reader.invalid(key, each, "a list of numbers up to 2^53");
      return;
    }
    if (!out.values.empty() && *value <= out.values.back()) {
      reader.wrong("search-field-invalid", each,
                   fmt::format("{}: {} does not follow {} in ascending order", reader.path(key),
                               format_double(*value), format_double(out.values.back())));
      return;
    }
    out.values.push_back(*value);
  }
}

/// first, first + step, … up to last.
void read_range(SpaceReader& inner, const toml::node& node, SpaceDimension& out) {
  constexpr std::int64_t most = 1LL << 53;
  for (const std::string_view key : {"from", "to"}) {
    if (inner.table().get(key) == nullptr) inner.missing(key);
  }
  const std::int64_t first = inner.count("from", 0, -most, most);
  const std::int64_t last = inner.count("to", first, -most, most);
  const std::int64_t step = inner.count("step", 1, 1, most);
  if (last < first) {
    inner.invalid("to", node, "at least 'from'");
  } else if ((last - first) / step >= static_cast<std::int64_t>(kMaxValues)) {
    inner.wrong("search-too-large", node, fmt::format("{} has more than 65,536 values", out.name));
  } else {
    for (std::int64_t v = first; v <= last; v += step) out.values.push_back(static_cast<double>(v));
  }
}

}  // namespace

void read_dimension(SpaceReader& reader, std::string_view key, const toml::node& node, Space& space) {
  SpaceDimension out;
  out.name = std::string(key);
  out.at = location_of(node.source(), reader.file());
  if (const toml::array* list = node.as_array()) {
    read_list(reader, key, *list, out);
  } else if (const toml::table* table = node.as_table()) {
    SpaceReader inner(*table, fmt::format("[dimensions] {}", key), reader.file(), reader.found());
    if (const toml::node* values = inner.get("values")) {
      if (const toml::array* list_of = values->as_array()) {
        read_list(inner, "values", *list_of, out);
      } else {
        inner.invalid("values", *values, "a list of numbers");
      }
    } else {
      read_range(inner, node, out);
    }
    const toml::node* when = inner.get("when");
    const toml::node* otherwise = inner.get("else");
    if (when != nullptr) out.when = inner.expression(*when, "when");
    if (when != nullptr && otherwise == nullptr) inner.missing("else");
    if (otherwise != nullptr && when == nullptr) inner.missing("when");
    if (otherwise != nullptr) {
      if (const auto value = space_value(*otherwise)) {
        out.otherwise = *value;
      } else {
        inner.invalid("else", *otherwise, "a number up to 2^53");
      }
    }
    inner.refuse_unknown();
  } else if (const auto value = space_value(node)) {
    out.values.push_back(*value);
  } else {
    reader.invalid(key, node, "a list, or { from = …, to = …, step = … }");
    return;
  }
  const bool complained = has_errors(reader.found());
  if (out.values.empty() && !complained) reader.invalid(key, node, "a list of at least one value");
  if (out.values.size() > kMaxValues)
    reader.wrong("search-too-large", node, fmt::format("{} has more than 65,536 values", out.name));
  space.dimensions.push_back(std::move(out));
}

void read_constraint(SpaceReader& reader, std::string_view key, const toml::node& node, Space& space) {
  SpaceConstraint out;
  out.name = std::string(key);
  std::optional<Expression> expression;
  if (const toml::table* table = node.as_table()) {
    SpaceReader inner(*table, fmt::format("[constraints] {}", key), reader.file(), reader.found());
    const toml::node* text = inner.get("expr");
    if (text == nullptr) {
      inner.missing("expr");
    } else {
      expression = inner.expression(*text, "expr");
    }
    if (const toml::node* band = inner.get("upper_band")) {
      const auto truth = band->value_exact<bool>();
      if (!truth) inner.invalid("upper_band", *band, "true or false");
      out.upper_band = truth.value_or(false);
    }
    inner.refuse_unknown();
  } else {
    expression = reader.expression(node, key);
  }
  if (!expression) return;
  out.expression = std::move(*expression);
  space.constraints.push_back(std::move(out));
}

void read_relation(SpaceReader reader, Space& space) {
  SpaceRelation out;
  out.at = location_of(reader.table().source(), reader.file());
  out.name = reader.text("name", true);
  const toml::node* of = reader.get("of");
  const toml::node* tuples = reader.get("tuples");
  if (of == nullptr) reader.missing("of");
  if (tuples == nullptr) reader.missing("tuples");
  if (of != nullptr) {
    if (const toml::array* names = of->as_array()) {
      for (const toml::node& each : *names) out.of.push_back(each.value_exact<std::string>().value_or(""));
    }
    const bool good =
        !out.of.empty() && out.of.size() <= 8 &&
        std::all_of(out.of.begin(), out.of.end(), [](const auto& n) { return is_identifier(n); });
    if (!good) reader.invalid("of", *of, "a list of one to eight names");
  }
  if (tuples != nullptr && tuples->as_array() != nullptr) {
    for (const toml::node& each : *tuples->as_array()) {
      std::vector<double> row;
      if (const toml::array* list = each.as_array()) {
        for (const toml::node& value : *list) {
          if (const auto number = space_value(value)) row.push_back(*number);
        }
      }
      if (row.size() != out.of.size() || row.empty()) {
        reader.invalid("tuples", each, fmt::format("lists of {} numbers", out.of.size()));
        break;
      }
      out.tuples.push_back(std::move(row));
    }
    if (out.tuples.size() > 1'000'000) reader.invalid("tuples", *tuples, "at most a million combinations");
  } else if (tuples != nullptr) {
    reader.invalid("tuples", *tuples, "a list of lists of numbers");
  }
  reader.refuse_unknown();
  space.relations.push_back(std::move(out));
}

}  // namespace plumbline
