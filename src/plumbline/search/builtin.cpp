// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/builtin.h"

#include <vector>

namespace plumbline {

std::span<const Layer> builtin_layers() {
  static const std::vector<Layer> layers{
      {"gemma4_e2b", 1536, 8, 1, 256, 6144, 2048, 1, true, 512},
      {"gemma4_31b", 5376, 32, 16, 256, 21504, 2048, 1, true, 1024},
      {"llama3_8b", 4096, 32, 8, 128, 14336, 2048, 1, false, 0},
      {"llama3_70b", 8192, 64, 8, 128, 28672, 2048, 1, false, 0},
      {"optimal_2b", 2048, 16, 2, 128, 8192, 2048, 1, true, 1024},
      {"wide_ffn_2b", 1536, 8, 1, 256, 8192, 2048, 1, true, 1024},
      {"narrow_heads", 2048, 32, 4, 64, 8192, 2048, 1, true, 1024},
      {"deep_narrow", 1024, 8, 1, 128, 4096, 2048, 1, true, 512},
      {"big_head_gqa", 2048, 8, 1, 256, 8192, 2048, 1, true, 1024},
  };
  return layers;
}

const Layer* find_builtin_layer(std::string_view name) {
  for (const Layer& layer : builtin_layers()) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

std::span<const BuiltinSweep> builtin_sweeps() {
  static const std::vector<BuiltinSweep> sweeps{
      {{"hidden_dim", 3840, 4320, 32}, {"", 1, 32, 8, 128, 14336, 2048, 1, false, 0}},
      {{"ffn_dim", 7936, 8384, 64}, {"", 2048, 16, 2, 128, 1, 2048, 1, true, 1024}},
  };
  return sweeps;
}

}  // namespace plumbline
