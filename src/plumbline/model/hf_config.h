// SPDX-License-Identifier: Apache-2.0
// A Hugging Face config.json of a dense decoder-only model -> Transformer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/transformer.h"

namespace plumbline {

inline constexpr std::uint64_t kMaxConfigBytes = 8ULL << 20;  ///< a config.json is a few kB

/// A hf_quant_config.json, as ModelOpt writes beside a config.json.
struct HfQuantFile {
  std::string_view text;
  std::string file;
};

/// Reads a config.json. `quantization` counts where config.json itself names none. A nested `text_config` is
/// taken (what stands beside it is noted as left out). Mixture-of-experts, latent attention and recurrent or
/// hybrid layers are refused by name. Errors: json-syntax, hf-no-model, hf-model-type-unknown, hf-not-dense,
/// hf-field-missing, hf-field-invalid, hf-quantization-unknown, and the layer codes of validate().
Parsed<Transformer> parse_hf_config(std::string_view text, const std::string& file,
                                    const std::optional<HfQuantFile>& quantization = {});

}  // namespace plumbline
