// SPDX-License-Identifier: Apache-2.0
// How a kernel source lies in its files: which operations, under which names, in which order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/measured.h"

namespace plumbline {

/// One fitted operation's place: its table in the TOML, and the names of its constants.
template <class Source, class Op>
struct OpPlace {
  std::string_view table;
  Op* op;
  std::span<const std::string_view> constants;
};

/// Every fitted operation of `source` in the order of the residual file.
template <class Source>
auto op_places(Source& source) {
  using Op = std::remove_reference_t<decltype((source.gemm))>;
  using Place = OpPlace<Source, Op>;
  return std::vector<Place>{
      {"gemm", &source.gemm, kGemmConstants},
      {"gemm_misaligned", &source.misaligned, kGemmConstants},
      {"prefill", &source.prefill[0], kPrefillConstants},
      {"prefill_flash", &source.prefill[1], kPrefillConstants},
      {"prefill_cudnn", &source.prefill[2], kPrefillConstants},
      {"decode", &source.decode[0], kDecodeConstants},
      {"decode_flash", &source.decode[1], kDecodeConstants},
      {"decode_cudnn", &source.decode[2], kDecodeConstants},
      {"prefill_flex", &source.prefill[3], kPrefillConstants},
  };
}

/// Tables of the three kinds of layers, by LayerKind.
inline constexpr std::array<std::string_view, 3> kLayerTables{"layer_prefill", "layer_window",
                                                              "layer_decode"};

/// First bytes of a residual file: trees, kept measurements, kernel names. Between an operation's two forests
/// stands a byte: 1 where the second has the thresholds of the first, which are not written again.
inline constexpr std::string_view kResidualMagic = "PLBRES2\n";

}  // namespace plumbline
