// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

std::string shown(const Json& value) { return printable(cut_middle(write_json_line(value), 40)); }

/// The whole number that a JSON value is, or none. 4096.0 is one.
std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= INT64_MAX ? std::optional(static_cast<std::int64_t>(number)) : std::optional(INT64_MAX);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (number != std::floor(number)) return std::nullopt;
  return std::abs(number) < 9e15 ? static_cast<std::int64_t>(number) : (number < 0 ? INT64_MIN : INT64_MAX);
}

}  // namespace

const Json* HfReader::get(const Names& names, std::string_view* used) const {
  if (used != nullptr) *used = names.first;
  for (const std::string_view name : {names.first, names.second, names.third}) {
    if (name.empty()) continue;
    const auto it = config.find(name);
    if (it == config.end() || it->is_null()) continue;
    if (used != nullptr) *used = name;
    return &*it;
  }
  return nullptr;
}

Location HfReader::at(std::string_view key) const {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t from = begin; (from = text.find(quoted, from)) != text.npos; from += quoted.size()) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", from + quoted.size());
    if (next == text.npos || text[next] != ':') continue;
    const TextPosition position = position_at(text, from);
    return {file, position.line, position.column};
  }
  return {file, 1, 1};
}

void HfReader::wrong(std::string_view code, std::string message, std::string_view key) {
  found.push_back(diagnose(code, std::move(message), at(key)));
}

std::optional<std::int64_t> HfReader::count(const Names& names, std::int64_t max) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return std::nullopt;
  const auto number = whole(*value);
  if (number && *number >= 1 && *number <= max) return number;
  wrong("hf-field-invalid",
        fmt::format("{} is {}, and must be a whole number from 1 to {}", name, shown(*value),
                    format_grouped(max)),
        name);
  return std::nullopt;
}

std::optional<std::int64_t> HfReader::need_count(const Names& names, std::int64_t max) {
  if (get(names) == nullptr) {
    found.push_back(diagnose("hf-field-missing", fmt::format("{} is missing", names.first), {file, 1, 1}));
    return std::nullopt;
  }
  return count(names, max);
}

std::vector<std::int64_t> HfReader::per_layer(const Names& names, std::size_t layers, std::int64_t max) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return {};
  if (!value->is_array()) {
    const auto number = count(names, max);
    return number ? std::vector<std::int64_t>(layers, *number) : std::vector<std::int64_t>{};
  }
  if (value->size() != layers) {
    wrong("hf-field-invalid",
          fmt::format("{} lists {} values, and there are {} layers", name, value->size(), layers), name);
    return {};
  }
  std::vector<std::int64_t> result;
  for (const Json& each : *value) {
    const auto number = whole(each);
    if (!number || *number < 1 || *number > max) {
      wrong("hf-field-invalid",
            fmt::format("{}[{}] is {}, and must be a whole number from 1 to {}", name, result.size(),
                        shown(each), format_grouped(max)),
            name);
      return {};
    }
    result.push_back(*number);
  }
  return result;
}

bool HfReader::flag(const Names& names, bool otherwise) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  wrong("hf-field-invalid", fmt::format("{} is {}, and must be true or false", name, shown(*value)), name);
  return otherwise;
}

}  // namespace plumbline
