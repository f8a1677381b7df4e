// SPDX-License-Identifier: Apache-2.0
// A Layer built field by field from texts: a CSV's cells, a JSON object's members, --layer's assignments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/layer.h"

namespace plumbline {

/// What a field's text was in its file.
enum class FieldKind { text, number, boolean, null, compound };

/// What rows inherit when they do not say it themselves.
struct LayerDefaults {
  Phase phase = Phase::prefill;
  AttentionBackend backend = AttentionBackend::best;
};

/// Where a value stands, kept cheap: only an error turns it into a Location.
struct Place {
  std::string_view file;
  std::string_view text{};  ///< the line or the document that holds the value; empty: unknown
  std::size_t offset = 0;   ///< of the value, in bytes of `text`
  int first_line = 1;       ///< the line number of the start of `text`

  /// Line and column of the offset (0 and 0 when the text is unknown).
  Location location() const;
};

/// Is `name` a field of a layer?
bool is_layer_field(std::string_view name);

/// All fields of a layer.
std::span<const std::string_view> layer_field_names();

/// The fields that a layer must have: of experts ffn_dim follows from the others, and of latent attention
/// num_kv_heads and head_dim. `has` says whether a field is given.
template <class Has>
std::vector<std::string_view> missing_fields(Has has) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : {"hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim"}) {
    const bool follows = name == "ffn_dim"                              ? has("experts")
                         : name == "num_kv_heads" || name == "head_dim" ? has("kv_lora_rank")
                                                                        : false;
    if (!has(name) && !follows) missing.push_back(name);
  }
  return missing;
}

/// Is `name` a column of a measured table that says nothing about the shape (ms, ms_min, ms_max, calls)?
bool is_measurement_column(std::string_view name);

/// Collects one layer. set() may be called in any order; the last value of a field counts.
class LayerBuilder {
 public:
  /// `row` (from 1) starts every message; 0: no row.
  explicit LayerBuilder(const LayerDefaults& defaults, std::int64_t row = 0);

  /// Starts from `base`, all of whose fields count as given, but for those that follow from experts or latent
  /// attention; phase and backend are those of `defaults`.
  void start_from(const Layer& base, const LayerDefaults& defaults);

  /// Sets a field. Codes: layer-field-unknown, layer-field-missing (an empty text where a value must be),
  /// layer-field-not-integer, layer-field-not-positive, layer-field-out-of-range, layer-field-invalid.
  void set(std::string_view name, std::string_view text, FieldKind kind, const Place& at);

  /// The layer, or what is wrong with it: all of set()'s errors, a required field never set
  /// (layer-field-missing), find_fault(). `at` is the row's place.
  Parsed<Layer> finish(const Place& at);

 private:
  void set_number(const LayerField& field, std::string_view text, FieldKind kind, const Place& at);
  void set_word(std::string_view name, std::string_view text, const Place& at);
  bool set_format(std::string_view name, std::string_view text, const Place& at);
  bool given(std::string_view name) const;
  void fill_in();
  std::string prefix() const;
  void wrong(std::string_view code, std::string message, const Place& at);

  Layer layer_;
  std::int64_t row_ = 0;
  std::vector<std::string_view> given_;                    ///< fields that were set, or tried
  std::vector<std::string_view> inherited_;                ///< of start_from()
  std::vector<std::pair<std::string_view, Place>> blank_;  ///< required fields whose text is empty
  Diagnostics found_;
};

}  // namespace plumbline
