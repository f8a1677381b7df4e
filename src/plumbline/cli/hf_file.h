// SPDX-License-Identifier: Apache-2.0
// A model's config.json, with the file beside it that says how its weights are kept.
#pragma once

#include <string>

#include "plumbline/model/transformer.h"

namespace plumbline::cli {

/// The model of a config.json, or of the folder that holds one. Where it has no quantization_config and a
/// hf_quant_config.json (ModelOpt) lies beside it, that says how the weights are kept.
/// Errors: those of reading the files and of parse_hf_config().
Parsed<Transformer> load_hf_config(const std::string& path);

}  // namespace plumbline::cli
