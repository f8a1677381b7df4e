// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/preset.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace plumbline {
namespace {

/// The value of an expression whose names are fields of a layer; another name is 0.
double evaluate(const Expression& expression, const Layer& layer) {
  std::vector<double> values;
  const auto operand = [&](int at) { return at < 0 ? 0.0 : values[static_cast<std::size_t>(at)]; };
  for (const ExpressionNode& node : expression.nodes) {
    if (node.op == Op::constant) {
      values.push_back(node.value);
    } else if (node.op == Op::name) {
      const auto fields = layer_fields();
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const LayerField& f) { return f.name == node.name; });
      values.push_back(field == fields.end() ? 0.0 : static_cast<double>(layer.*field->member));
    } else {
      values.push_back(apply(node.op, operand(node.a), operand(node.b), operand(node.c)));
    }
  }
  return values.back();
}

}  // namespace

std::vector<SpaceConstraint> preset_constraints(std::string_view name) {
  std::vector<SpaceConstraint> out;
  if (name != kPresets.front()) return out;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> texts{
      {{"quality_width", "hidden_dim >= 2048"},
       {"quality_size", "hidden_dim * ffn_dim >= 16000000"},
       {"quality_ffn_ratio", "3.75 <= ffn_dim / hidden_dim <= 5.5"}}};
  for (const auto& [title, text] : texts) {
    out.push_back({std::string(title), *parse_expression(text, {}).value, false});
  }
  return out;
}

std::vector<Layer> preset_candidates(std::string_view name) {
  std::vector<Layer> out;
  if (name != kPresets.front()) return out;
  constexpr std::int64_t tile = 128;
  for (const std::int64_t hidden : {1536, 2048, 2560, 3072, 4096}) {
    for (const std::int64_t head : {128, 256}) {
      for (const bool wide : {false, true}) {
        for (const std::int64_t window : {512, 1024}) {
          const std::int64_t heads = hidden / head;
          // Four times the width, or 16/3 of it to the nearest whole tile.
          const std::int64_t ffn = wide ? (16 * hidden + 3 * tile / 2) / (3 * tile) * tile : 4 * hidden;
          out.push_back(
              {fmt::format("gen_h{}_hd{}_gqa4_ffn{}_w{}", hidden, head, wide ? "5p33" : "4p0", window),
               hidden, heads, heads / 4, head, ffn, 2048, 1, true, window});
        }
      }
    }
  }
  return out;
}

std::size_t PresetVerdict::passed() const {
  return static_cast<std::size_t>(
      std::count_if(failed.begin(), failed.end(), [](const auto& each) { return each.empty(); }));
}

PresetVerdict judge_by_preset(std::string_view name, const std::vector<Layer>& layers) {
  PresetVerdict out{std::string(name), preset_constraints(name), {}};
  for (const Layer& layer : layers) {
    std::vector<std::size_t>& failed = out.failed.emplace_back();
    for (std::size_t i = 0; i < out.rules.size(); ++i) {
      if (evaluate(out.rules[i].expression, layer) == 0) failed.push_back(i);
    }
  }
  return out;
}

}  // namespace plumbline
