// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/text.h"

namespace plumbline {

std::string TableReader::where(std::string_view key) const {
  return name.empty() ? std::string(key) : fmt::format("{} {}", name, key);
}

const toml::node* TableReader::get(std::string_view key, bool required) {
  known.push_back(key);
  const toml::node* node = table.get(key);
  if (node == nullptr && required) {
    found.push_back(diagnose("hardware-field-missing", fmt::format("{} is missing", where(key)),
                             location_of(table.source(), file)));
  }
  return node;
}

void TableReader::invalid(std::string_view key, const toml::node& node, std::string_view want) {
  found.push_back(diagnose("hardware-field-invalid", fmt::format("{} must be {}", where(key), want),
                           location_of(node.source(), file)));
}

std::string TableReader::text(std::string_view key, bool filled) {
  const toml::node* node = get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::string>();
  if (!value || (filled && value->empty())) {
    invalid(key, *node, filled ? "a text that is not empty" : "a text");
    return {};
  }
  return *value;
}

void TableReader::rate(std::string_view key, double& target) {
  const toml::node* node = get(key);
  if (node == nullptr) return;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > 1e9)
    return invalid(key, *node, "a number over 0 and at most 1e9");
  target = *value;
}

void TableReader::size(std::string_view key, std::int64_t& target) {
  const toml::node* node = get(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value <= 0 || *value > (1LL << 50)) return invalid(key, *node, "an integer from 1 to 2^50");
  target = *value;
}

double TableReader::number(std::string_view key, std::optional<double> absent) {
  const toml::node* node = get(key, !absent);
  if (node == nullptr) return absent.value_or(1.0);
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || std::abs(*value) > 1e30) {
    invalid(key, *node, "a finite number");
    return 1.0;
  }
  return *value;
}

std::int64_t TableReader::count(std::string_view key) {
  const double value = number(key, 0);
  if (value >= 0 && value < 1e15) return static_cast<std::int64_t>(value);
  invalid(key, *table.get(key), "a count from 0");
  return 0;
}

bool TableReader::yes(std::string_view key) {
  const toml::node* node = get(key, false);
  if (node == nullptr) return false;
  const auto value = node->value_exact<bool>();
  if (!value) invalid(key, *node, "true or false");
  return value.value_or(false);
}

std::array<double, 3> TableReader::triple(std::string_view key) {
  const toml::node* node = get(key);
  std::array<double, 3> out{};
  if (node == nullptr) return out;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() != out.size()) {
    invalid(key, *node, "three numbers");
    return out;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const toml::node* one = list->get(i);
    const auto value = one->is_number() ? one->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) {
      invalid(key, *node, "three numbers");
      return out;
    }
    out[i] = *value;
  }
  return out;
}

std::vector<std::string> TableReader::texts(std::string_view key, std::size_t most) {
  std::vector<std::string> out;
  const toml::node* node = get(key);
  if (node == nullptr) return out;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() > most) {
    invalid(key, *node, "a short list of texts");
    return out;
  }
  for (const toml::node& element : *list) {
    const auto value = element.value_exact<std::string>();
    if (!value) {
      invalid(key, *node, "a short list of texts");
      return out;
    }
    out.push_back(*value);
  }
  return out;
}

std::map<std::string, double> TableReader::numbers(std::string_view key) {
  std::map<std::string, double> out;
  const toml::node* node = get(key, false);
  if (node == nullptr) return out;
  const toml::table* inner = node->as_table();
  if (inner == nullptr) {
    invalid(key, *node, "a table of numbers");
    return out;
  }
  TableReader reader{*inner, fmt::format("{}.{}", name, key), file, found};
  for (const auto& [k, v] : *inner) out[std::string(k.str())] = reader.number(k.str());
  return out;
}

Accuracy TableReader::accuracy(std::string_view key) {
  Accuracy out;
  const std::optional<TableReader> inner = sub(key, fmt::format("{}.{}", name, key), false);
  if (!inner) return out;
  TableReader reader = *inner;
  for (const auto& [figure, member] : kAccuracyFigures) {
    if (reader.get(figure, false) != nullptr) out.*member = reader.number(figure);
  }
  reader.refuse_unknown();
  return out;
}

std::optional<TableReader> TableReader::sub(std::string_view key, std::string title, bool required) {
  const toml::node* node = get(key, required);
  if (node == nullptr) return std::nullopt;
  const toml::table* inner = node->as_table();
  if (inner == nullptr) {
    invalid(key, *node, "a table");
    return std::nullopt;
  }
  return TableReader{*inner, std::move(title), file, found};
}

void TableReader::refuse_unknown() {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    const auto near = nearest_name(key.str(), known);
    found.push_back(diagnose("hardware-field-unknown",
                             fmt::format("{} is not a field{}", where(key.str()),
                                         near ? fmt::format("; did you mean '{}'?", *near) : ""),
                             location_of(key.source(), file)));
  }
}

}  // namespace plumbline
