// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/json_locate.h"
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

const Json* HfReader::get(Names names, std::string_view* used) const {
  if (used != nullptr) *used = *names.begin();
  for (const std::string_view name : names) {
    const Json* object = &config;
    std::string_view rest = name;
    for (std::size_t dot = 0; object != nullptr && (dot = rest.find('.')) != rest.npos;
         rest.remove_prefix(dot + 1)) {
      const auto it = object->find(rest.substr(0, dot));
      object = it != object->end() && it->is_object() ? &*it : nullptr;
    }
    if (object == nullptr) continue;
    const auto it = object->find(rest);
    if (it == object->end() || it->is_null()) continue;
    if (used != nullptr) *used = name;
    return &*it;
  }
  return nullptr;
}

Location HfReader::at(std::string_view key) const {
  std::string pointer = nested + '/';
  for (const char c : key) pointer += c == '.' ? '/' : c;
  return locate_json(text, pointer, file);
}

void HfReader::wrong(std::string_view code, std::string message, std::string_view key) {
  found.push_back(diagnose(code, std::move(message), at(key)));
}

std::optional<std::int64_t> HfReader::count(Names names, std::int64_t max, std::int64_t least) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return std::nullopt;
  const auto number = whole(*value);
  if (number && *number >= least && *number <= max) return number;
  wrong("hf-field-invalid",
        fmt::format("{} is {}, and must be a whole number from {} to {}", name, shown(*value), least,
                    format_grouped(max)),
        name);
  return std::nullopt;
}

std::optional<std::int64_t> HfReader::need_count(Names names, std::int64_t max, std::int64_t otherwise) {
  if (get(names) != nullptr) return count(names, max);
  if (otherwise > 0) return otherwise;
  found.push_back(diagnose("hf-field-missing", fmt::format("{} is missing", *names.begin()), {file, 1, 1}));
  return std::nullopt;
}

std::vector<std::int64_t> HfReader::per_layer(Names names, std::size_t layers, std::int64_t max,
                                              std::int64_t least) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return {};
  if (!value->is_array()) {
    const auto number = count(names, max, least);
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
    if (!number || *number < least || *number > max) {
      wrong("hf-field-invalid",
            fmt::format("{}[{}] is {}, and must be a whole number from {} to {}", name, result.size(),
                        shown(each), least, format_grouped(max)),
            name);
      return {};
    }
    result.push_back(*number);
  }
  return result;
}

void HfReader::agree(Names names) {
  std::string_view first;
  const Json* stated = get(names, &first);
  if (stated == nullptr || !stated->is_number()) return;
  for (const std::string_view name : names) {
    const Json* other = get({name});
    if (other == nullptr || !other->is_number() || *other == *stated) continue;
    wrong(
        "hf-field-invalid",
        fmt::format("{} is {} and {} is {}: they mean the same", first, shown(*stated), name, shown(*other)),
        name);
    return;
  }
}

bool HfReader::flag(Names names, bool otherwise) {
  std::string_view name;
  const Json* value = get(names, &name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  wrong("hf-field-invalid", fmt::format("{} is {}, and must be true or false", name, shown(*value)), name);
  return otherwise;
}

std::string HfReader::word(std::string_view name) const {
  const Json* value = get({name});
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

}  // namespace plumbline
