// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/layer_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::array<std::string_view, 5> kWords{"name", "use_qk_norm", "phase", "activation", "backend"};
constexpr std::array<std::string_view, 5> kRequired{"hidden_dim", "num_heads", "num_kv_heads", "head_dim",
                                                    "ffn_dim"};
constexpr std::array<std::string_view, 4> kMeasured{"ms", "ms_min", "ms_max", "calls"};

template <class Range>
bool contains(const Range& range, std::string_view name) {
  return std::find(range.begin(), range.end(), name) != range.end();
}

/// Spellings of "no value" that CSV writers use.
bool is_blank(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  return lower.empty() || lower == "none" || lower == "null" || lower == "nan" || lower == "-";
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "y") return true;
  if (lower == "0" || lower == "false" || lower == "no" || lower == "n") return false;
  return std::nullopt;
}

template <class E>
bool match(std::string_view text, std::initializer_list<E> values, E& target) {
  for (const E value : values) {
    if (to_lower(trim(text)) == to_string(value)) {
      target = value;
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_layer_field(std::string_view name) {
  return contains(kWords, name) || find_layer_field(name) != nullptr;
}

bool is_measurement_column(std::string_view name) { return contains(kMeasured, name); }

Location Place::location() const {
  if (text.data() == nullptr) return {std::string(file)};
  const TextPosition at = position_at(text, offset);
  return {std::string(file), first_line + at.line - 1, at.column};
}

LayerBuilder::LayerBuilder(const LayerDefaults& defaults, std::int64_t row) : row_(row) {
  layer_.phase = defaults.phase;
  layer_.backend = defaults.backend;
}

void LayerBuilder::start_from(const Layer& base, const LayerDefaults& defaults) {
  layer_ = base;
  layer_.phase = defaults.phase;
  layer_.backend = defaults.backend;
  for (const LayerField& field : layer_fields()) given_.push_back(field.name);
}

std::string LayerBuilder::prefix() const { return row_ == 0 ? "" : fmt::format("row {}: ", row_); }

void LayerBuilder::wrong(std::string_view code, std::string message, const Place& at) {
  found_.push_back(diagnose(code, prefix() + std::move(message), at.location()));
}

void LayerBuilder::set_number(const LayerField& field, std::string_view text, FieldKind kind,
                              const Place& at) {
  given_.push_back(field.name);
  if (kind == FieldKind::null || (kind == FieldKind::text && is_blank(text))) {
    if (contains(kRequired, field.name)) {
      wrong("layer-field-missing", fmt::format("{} has no value", field.name), at);
    } else {
      layer_.*field.member = Layer{}.*field.member;
    }
    return;
  }
  const std::string_view digits = trim(text);
  std::optional<std::int64_t> value = parse_int(digits);
  const std::optional<double> real = value ? std::nullopt : parse_double(digits);
  // "4096.0" is a whole number: spreadsheets and data frames write integers so.
  if (real && *real == std::floor(*real) && std::abs(*real) < 9e15) value = static_cast<std::int64_t>(*real);
  if (kind == FieldKind::boolean || kind == FieldKind::compound || (!value && !real)) {
    wrong("layer-field-not-integer",
          fmt::format("{} is {}, and must be a whole number", field.name,
                      kind == FieldKind::compound ? "a list or an object"
                                                  : fmt::format("'{}'", printable(cut_middle(text, 40)))),
          at);
  } else if (!value && *real == std::floor(*real)) {
    wrong(*real < 0 ? "layer-field-not-positive" : "layer-field-out-of-range",
          fmt::format("{} is {}, and must lie in 1..{}", field.name, printable(cut_middle(digits, 40)),
                      format_grouped(field.max)),
          at);
  } else if (!value) {
    wrong("layer-field-not-integer",
          fmt::format("{} is {}, and must be a whole number", field.name, printable(cut_middle(digits, 40))),
          at);
  } else if (*value > field.max || (*value <= 0 && field.member != &Layer::window_size)) {
    found_.push_back(check_layer_field(field, *value, prefix(), at.location()).value());
  } else {
    layer_.*field.member = *value;
  }
}

void LayerBuilder::set_word(std::string_view name, std::string_view text, const Place& at) {
  bool fine = true;
  std::string_view want;
  if (name == "name") {
    layer_.name = trim(text);
  } else if (is_blank(text)) {
    return;  // the default stays
  } else if (name == "use_qk_norm") {
    const auto value = parse_bool(text);
    fine = value.has_value();
    layer_.use_qk_norm = value.value_or(false);
    want = "0 or 1, true or false";
  } else if (name == "phase") {
    fine = match(text, {Phase::prefill, Phase::decode}, layer_.phase);
    want = "prefill or decode";
  } else if (name == "activation") {
    fine = match(text, {Activation::gated, Activation::plain}, layer_.activation);
    want = "gated or plain";
  } else {
    using enum AttentionBackend;
    fine = match(text, {best, flash, cudnn, varlen, flex}, layer_.backend);
    want = "best, flash, cudnn, varlen or flex";
  }
  if (!fine) {
    wrong("layer-field-invalid",
          fmt::format("{} is '{}', and must be {}", name, printable(cut_middle(text, 40)), want), at);
  }
}

void LayerBuilder::set(std::string_view name, std::string_view text, FieldKind kind, const Place& at) {
  if (const LayerField* field = find_layer_field(name)) return set_number(*field, text, kind, at);
  if (!contains(kWords, name)) {
    std::vector<std::string_view> known(kWords.begin(), kWords.end());
    for (const LayerField& field : layer_fields()) known.push_back(field.name);
    const auto near = nearest_name(name, known);
    return wrong("layer-field-unknown",
                 fmt::format("'{}' is not a field of a layer{}", printable(cut_middle(name, 40)),
                             near ? fmt::format("; did you mean '{}'?", *near) : ""),
                 at);
  }
  if (kind == FieldKind::compound) {
    return wrong("layer-field-invalid", fmt::format("{} is a list or an object", name), at);
  }
  set_word(name, kind == FieldKind::null ? std::string_view{} : text, at);
}

Parsed<Layer> LayerBuilder::finish(const Place& at) {
  for (const std::string_view name : kRequired) {
    if (!contains(given_, name)) wrong("layer-field-missing", fmt::format("{} is missing", name), at);
  }
  if (found_.empty() && layer_.num_heads % layer_.num_kv_heads != 0) {
    wrong("layer-heads-not-divisible",
          fmt::format("num_heads ({}) is not a multiple of num_kv_heads ({})", layer_.num_heads,
                      layer_.num_kv_heads),
          at);
  }
  if (!found_.empty()) return {std::nullopt, std::move(found_)};
  return {std::move(layer_), {}};
}

}  // namespace plumbline
