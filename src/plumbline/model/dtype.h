// SPDX-License-Identifier: Apache-2.0
// Dtype: the number formats that measured kernels work in, by the names of the public tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumbline {

/// Formats of a product's operands, or of a KV cache. `fp8` has one scale a tensor or a row; `fp8_block` one
/// for 128 elements (of weights: 128 x 128); `nvfp4` one for 16; `int4_wo` and `w4a16_mxfp4` keep activations
/// in bf16; `w4a8_mxfp4_mxfp8` has fp4 weights and fp8 activations.
enum class Dtype : std::uint8_t { bf16, fp8, fp8_block, nvfp4, int4_wo, w4a16_mxfp4, w4a8_mxfp4_mxfp8 };
/// How many Dtype there are.
inline constexpr std::size_t kDtypes = 7;

/// What a format costs: bytes an element with its scales, and which tensor rate its products run at.
struct DtypeCost {
  std::string_view name;
  double weight_bytes = 2, activation_bytes = 2;
  int rate = 0;  ///< 0: bf16's peak, 1: fp8's, 2: fp4's
};

/// By Dtype.
inline constexpr std::array<DtypeCost, kDtypes> kDtypeCosts{{
    {"bf16", 2, 2, 0},
    {"fp8", 1, 1, 1},
    {"fp8_block", 1 + 4.0 / (128 * 128), 1 + 4.0 / 128, 1},
    {"nvfp4", 0.5 + 1.0 / 16, 0.5 + 1.0 / 16, 2},
    {"int4_wo", 0.5 + 2.0 / 128, 2, 0},
    {"w4a16_mxfp4", 0.5 + 1.0 / 32, 2, 0},
    {"w4a8_mxfp4_mxfp8", 0.5 + 1.0 / 32, 1 + 1.0 / 32, 1},
}};

/// "bf16", "fp8", "fp8_block", "nvfp4", "int4_wo", "w4a16_mxfp4" or "w4a8_mxfp4_mxfp8".
constexpr std::string_view to_string(Dtype dtype) {
  return kDtypeCosts[static_cast<std::size_t>(dtype)].name;
}
/// Bytes and rate of a format.
constexpr const DtypeCost& cost_of(Dtype dtype) { return kDtypeCosts[static_cast<std::size_t>(dtype)]; }

/// The format of that name; bfloat16, half and float16 are bf16 (two bytes), fp8_e4m3 is fp8.
constexpr std::optional<Dtype> find_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDtypes; ++i) {
    if (kDtypeCosts[i].name == name) return static_cast<Dtype>(i);
  }
  if (name == "bfloat16" || name == "half" || name == "float16") return Dtype::bf16;
  if (name == "fp8_e4m3" || name == "e4m3") return Dtype::fp8;
  return std::nullopt;
}

}  // namespace plumbline
