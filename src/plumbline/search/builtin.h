// SPDX-License-Identifier: Apache-2.0
// Layers and sweeps that need no input file.
#pragma once

#include <span>
#include <string_view>

#include "plumbline/model/layer.h"
#include "plumbline/search/sweep.h"

namespace plumbline {

/// Nine layers: four of known models, five that nobody has trained. What `arch report` compares without
/// --configs, in the order of its artifact.
std::span<const Layer> builtin_layers();

/// The built-in layer of that name, or nullptr.
const Layer* find_builtin_layer(std::string_view name);

/// A sweep with the layer that it starts from.
struct BuiltinSweep {
  SweepRange range;
  Layer base;  ///< without a name; the swept dimension is 1
};

/// hidden_dim 3840..4320 by 32 and ffn_dim 7936..8384 by 64: both sides of two popular sizes.
std::span<const BuiltinSweep> builtin_sweeps();

}  // namespace plumbline
