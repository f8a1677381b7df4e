// SPDX-License-Identifier: Apache-2.0
// Presets of quality: named rules that a shape has to fulfil, the same in a space and in a report.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/layer.h"
#include "plumbline/search/space.h"

namespace plumbline {

/// The names that preset_constraints() knows.
inline constexpr std::array<std::string_view, 1> kPresets{"noeris-quality"};

/// The constraints of that preset, or none: "noeris-quality" (width >= 2048, hidden·ffn >= 16 M, FFN ratio
/// 3.75 to 5.5).
std::vector<SpaceConstraint> preset_constraints(std::string_view name);

/// The layers that a preset's original script generates: of "noeris-quality" forty. None for other names.
std::vector<Layer> preset_candidates(std::string_view name);

/// A preset held against layers.
struct PresetVerdict {
  std::string name;
  std::vector<SpaceConstraint> rules;
  std::vector<std::vector<std::size_t>> failed;  ///< by layer: the rules that it fails; none: it passes

  bool passes(std::size_t layer) const { return failed[layer].empty(); }
  std::size_t passed() const;
};

/// Holds every layer against every rule of the preset `name`, one of kPresets.
PresetVerdict judge_by_preset(std::string_view name, const std::vector<Layer>& layers);

}  // namespace plumbline
