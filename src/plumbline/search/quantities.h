// SPDX-License-Identifier: Apache-2.0
// Quantities that every space has, as expressions; and which fields of a layer each kernel depends on. Not
// installed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/search/shape_layer.h"
#include "plumbline/search/space.h"

namespace plumbline {

/// A field of ShapeLayer that shapes of a space differ in.
struct ShapeField {
  std::string_view name;      ///< as in a space file
  std::string_view fallback;  ///< its value where the space does not say; empty: required
  double max;                 ///< the largest value
  void (*set)(ShapeLayer&, double);
};

/// hidden_dim, num_heads, num_kv_heads, head_dim, ffn_dim, window_size, use_qk_norm, gated, tensor_parallel,
/// num_experts, experts_per_token, expert_dim, weight_bits, kv_bits.
std::span<const ShapeField> shape_fields();
inline constexpr std::size_t kShapeFields = 14;
/// The place of window_size in shape_fields().
inline constexpr std::size_t kWindowField = 5;

/// Bits of shape_fields() that a kernel of that name depends on; every bit for a name that is not known.
/// `by_window`: whether the kind of the layer (full attention or a window) changes every kernel.
std::uint32_t kernel_fields(std::string_view kernel, bool by_window);

/// True when the space names it itself, as a dimension or a derived quantity.
bool names(const Space& space, std::string_view quantity);
/// What its layers have beyond those of Layer.
LayerParts layer_parts(const Space& space);

/// A quantity as a space file would define it.
struct Quantity {
  std::string name;
  std::string text;
};

/// What is counted: parameters, bytes, ratios. `whole_model`: the space has num_layers; `pattern`:
/// full_every.
std::vector<Quantity> counted_quantities(const Space& space, bool whole_model, bool pattern);

/// Times, over the layer and outside quantities `POINT_GPU_layer_ps`, `…_full_ps`, `…_window_ps`,
/// `…_outside_ps` and the same with `_high`; weights; tpot where the space serves.
std::vector<Quantity> timed_quantities(const Space& space, bool whole_model, bool pattern);

/// What every shape must fulfil: fields are whole and in range, heads divide, dimensions that are not in use
/// stand at their first value.
std::vector<Quantity> basic_constraints(const Space& space);

/// The symbol of a dimension in definitions: NAME, or NAME__raw where it is conditional.
std::string dimension_symbol(const SpaceDimension& dimension);

}  // namespace plumbline
