// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/layer_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
/// Of DeepSeek-V3's latent attention, the only one that was measured: queries' rank, width of a head's keys.
constexpr std::int64_t kLatentQueryRank = 1536, kLatentHeadDim = 192;
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

bool is_layer_field(std::string_view name) { return contains(layer_field_names(), name); }

std::span<const std::string_view> layer_field_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all(kWords.begin(), kWords.end());
    for (const auto fields : {layer_fields(), part_fields()}) {
      for (const LayerField& field : fields) all.push_back(field.name);
    }
    for (const LayerFormatField& field : format_fields()) all.push_back(field.name);
    return all;
  }();
  return names;
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
  for (const LayerField& field : layer_fields()) inherited_.push_back(field.name);
}

bool LayerBuilder::given(std::string_view name) const { return contains(given_, name); }

std::string LayerBuilder::prefix() const { return row_ == 0 ? "" : fmt::format("row {}: ", row_); }

void LayerBuilder::wrong(std::string_view code, std::string message, const Place& at) {
  found_.push_back(diagnose(code, prefix() + std::move(message), at.location()));
}

void LayerBuilder::set_number(const LayerField& field, std::string_view text, FieldKind kind,
                              const Place& at) {
  if (kind == FieldKind::null || (kind == FieldKind::text && is_blank(text))) {
    if (contains(kRequired, field.name)) {
      blank_.emplace_back(field.name, at);
    } else {
      layer_.*field.member = Layer{}.*field.member;
    }
    return;
  }
  given_.push_back(field.name);
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
          fmt::format("{} is {}, and must lie in {}..{}", field.name, printable(cut_middle(digits, 40)),
                      field.min == 0 ? 0 : 1, format_grouped(field.max)),
          at);
  } else if (!value) {
    wrong("layer-field-not-integer",
          fmt::format("{} is {}, and must be a whole number", field.name, printable(cut_middle(digits, 40))),
          at);
  } else if (auto out_of_range = check_layer_field(field, *value, prefix(), at.location())) {
    found_.push_back(std::move(*out_of_range));
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

bool LayerBuilder::set_format(std::string_view name, std::string_view text, const Place& at) {
  for (const LayerFormatField& field : format_fields()) {
    if (field.name != name) continue;
    if (is_blank(text)) return true;  // the default stays
    given_.push_back(field.name);
    if (const auto format = find_dtype(to_lower(trim(text)))) {
      layer_.*field.member = *format;
    } else {
      std::vector<std::string_view> names;
      for (const DtypeCost& each : kDtypeCosts) names.push_back(each.name);
      wrong("layer-field-invalid",
            fmt::format("{} is '{}', and must be one of {}", name, printable(cut_middle(text, 40)),
                        fmt::join(names, ", ")),
            at);
    }
    return true;
  }
  return false;
}

void LayerBuilder::set(std::string_view name, std::string_view text, FieldKind kind, const Place& at) {
  if (const LayerField* field = find_layer_field(name)) return set_number(*field, text, kind, at);
  if (!is_layer_field(name)) {
    const auto near = nearest_name(name, layer_field_names());
    return wrong("layer-field-unknown",
                 fmt::format("'{}' is not a field of a layer{}", printable(cut_middle(name, 40)),
                             near ? fmt::format("; did you mean '{}'?", *near) : ""),
                 at);
  }
  if (kind == FieldKind::compound) {
    return wrong("layer-field-invalid", fmt::format("{} is a list or an object", name), at);
  }
  const std::string_view word = kind == FieldKind::null ? std::string_view{} : text;
  if (!set_format(name, word, at)) set_word(name, word, at);
}

void LayerBuilder::fill_in() {
  if (!given("mlp_dtype")) layer_.mlp_dtype = layer_.dtype;
  if (!given("shared_dtype") && layer_.shared_experts > 0) layer_.shared_dtype = layer_.mlp_dtype;
  if (layer_.kv_lora_rank > 0) {
    if (!given("head_dim")) layer_.head_dim = kLatentHeadDim;
    if (!given("q_lora_rank")) layer_.q_lora_rank = kLatentQueryRank;
  }
  // what was given stands, and find_fault() says where it contradicts the rest
  const std::int64_t ffn_dim = layer_.ffn_dim, num_kv_heads = layer_.num_kv_heads;
  settle(layer_);
  if (given("ffn_dim")) layer_.ffn_dim = ffn_dim;
  if (given("num_kv_heads")) layer_.num_kv_heads = num_kv_heads;
}

Parsed<Layer> LayerBuilder::finish(const Place& at) {
  const auto blank_of = [&](std::string_view name) {
    return std::find_if(blank_.begin(), blank_.end(), [&](const auto& each) { return each.first == name; });
  };
  const auto has = [&](std::string_view name) {
    if (name == "experts") return layer_.experts > 0;
    if (name == "kv_lora_rank") return layer_.kv_lora_rank > 0;
    return given(name) || (contains(inherited_, name) && blank_of(name) == blank_.end());
  };
  for (const std::string_view name : missing_fields(has)) {
    const auto blank = blank_of(name);
    if (blank != blank_.end()) {
      wrong("layer-field-missing", fmt::format("{} has no value", name), blank->second);
    } else {
      wrong("layer-field-missing", fmt::format("{} is missing", name), at);
    }
  }
  if (found_.empty()) fill_in();
  if (found_.empty()) {
    if (auto fault = find_fault(layer_)) wrong(fault->code, std::move(fault->message), at);
  }
  if (!found_.empty()) return {std::nullopt, std::move(found_)};
  return {std::move(layer_), {}};
}

}  // namespace plumbline
