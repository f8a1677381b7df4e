// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/space_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {

namespace {
constexpr double kMaxInteger = 9007199254740992.0;  // 2^53: whole numbers are exact up to here
}

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 60 || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<double> space_value(const toml::node& node) {
  if (const auto truth = node.value_exact<bool>()) return *truth ? 1.0 : 0.0;
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || std::abs(*value) > kMaxInteger) return std::nullopt;
  return value;
}

std::vector<std::pair<std::string_view, const toml::node*>> in_file_order(const toml::table& table) {
  std::vector<std::pair<std::string_view, const toml::node*>> out;
  for (const auto& [key, node] : table) out.emplace_back(key.str(), &node);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    const auto& x = a.second->source().begin;
    const auto& y = b.second->source().begin;
    return x.line != y.line ? x.line < y.line : x.column < y.column;
  });
  return out;
}

const toml::node* SpaceReader::get(std::string_view key) {
  known_.push_back(key);
  return table_.get(key);
}

void SpaceReader::missing(std::string_view key) {
  found_.push_back(diagnose("search-field-missing", fmt::format("{} is missing", path(key)),
                            location_of(table_.source(), file_)));
}

std::string SpaceReader::text(std::string_view key, bool required) {
  const toml::node* node = get(key);
  if (node == nullptr) {
    if (required) missing(key);
    return {};
  }
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) invalid(key, *node, "a text that is not empty");
  return value.value_or("");
}

double SpaceReader::number(std::string_view key, double fallback, double low, double high) {
  const toml::node* node = get(key);
  if (node == nullptr) return fallback;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (value && std::isfinite(*value) && *value >= low && *value <= high) return *value;
  invalid(key, *node, fmt::format("a number from {} to {}", format_double(low), format_double(high)));
  return fallback;
}

std::int64_t SpaceReader::count(std::string_view key, std::int64_t fallback, std::int64_t low,
                                std::int64_t high) {
  const toml::node* node = get(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<std::int64_t>();
  if (value && *value >= low && *value <= high) return *value;
  invalid(key, *node, fmt::format("a whole number from {} to {}", low, format_grouped(high)));
  return fallback;
}

const toml::table* SpaceReader::sub(std::string_view key) {
  const toml::node* node = get(key);
  if (node != nullptr && node->as_table() == nullptr) invalid(key, *node, "a table");
  return node == nullptr ? nullptr : node->as_table();
}

std::vector<const toml::table*> SpaceReader::tables(std::string_view key) {
  const toml::node* node = get(key);
  std::vector<const toml::table*> out;
  if (node == nullptr) return out;
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& each : *list) {
      if (each.as_table() != nullptr) {
        out.push_back(each.as_table());
      } else {
        invalid(key, each, "an array of tables");
      }
    }
  } else {
    invalid(key, *node, fmt::format("an array of tables: write [[{}]]", key));
  }
  return out;
}

std::optional<Expression> SpaceReader::expression(const toml::node& node, std::string_view key) {
  Location at = location_of(node.source(), file_);
  std::string text;
  if (const auto value = node.value_exact<std::string>()) {
    text = *value;
    if (at.column > 0) ++at.column;  // behind the quote
  } else if (const auto whole = node.value_exact<std::int64_t>()) {
    text = std::to_string(*whole);
  } else if (const auto real = node.value_exact<double>(); real && std::isfinite(*real)) {
    text = format_double(*real);
  } else if (const auto truth = node.value_exact<bool>()) {
    text = *truth ? "1" : "0";
  } else {
    invalid(key, node, "an expression in quotes, or a number");
    return std::nullopt;
  }
  auto parsed = parse_expression(text, at);
  found_.insert(found_.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  return std::move(parsed.value);
}

void SpaceReader::refuse_unknown() {
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    const auto near = nearest_name(key.str(), known_);
    found_.push_back(diagnose("search-field-unknown",
                              fmt::format("{} is not known here{}", path(printable(key.str())),
                                          near ? fmt::format("; did you mean '{}'?", *near) : ""),
                              location_of(key.source(), file_)));
  }
}

}  // namespace plumbline
