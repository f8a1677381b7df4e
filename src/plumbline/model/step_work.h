// SPDX-License-Identifier: Apache-2.0
// StepWork: the tokens that one pass through a layer or a model takes.
#pragma once

#include <cstdint>

#include "plumbline/model/layer.h"

namespace plumbline {

/// The tokens of a step: sequences that take one new token each, and pieces of prompts.
struct StepWork {
  std::int64_t decodes = 0;
  std::int64_t decode_keys = 1;  ///< keys of each, the new token's included
  std::int64_t prompts = 0;
  std::int64_t prompt_tokens = 0;  ///< new tokens of each
  std::int64_t prompt_keys = 0;    ///< keys of each, the new tokens' included
};

/// Tokens of a step.
std::int64_t tokens_of(const StepWork& work);

/// What the layer's own phase, seq_len and batch_size ask for.
StepWork work_of(const Layer& layer);

}  // namespace plumbline
