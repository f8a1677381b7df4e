// SPDX-License-Identifier: Apache-2.0
// Requests served at a steady concurrency: the time to the first token, and of each token after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/model/memory.h"
#include "plumbline/serve/framework.h"
#include "plumbline/serve/step.h"

namespace plumbline {

/// What every client asks, again as soon as it is answered.
struct Load {
  std::int64_t input_tokens = 1024;
  std::int64_t output_tokens = 1024;
  std::int64_t concurrency = 1;  ///< clients
};

/// A time with its band, claimed at 90 %.
struct Banded {
  double ms = 0, low_ms = 0, high_ms = 0;
};

/// What a load gets.
struct ServeCost {
  Banded ttft, tpot;
  double output_tokens_per_second = 0;  ///< of all GPUs together
  std::int64_t running = 0;             ///< requests in memory at once: concurrency, or fewer
  std::int64_t gpus = 1;
  MemoryUse memory;  ///< of a GPU with all running requests half answered
  // what a token after the first waits for
  StepCost decode;        ///< a step of `running` sequences, averaged over the growing cache
  StepCost prefill;       ///< one prompt alone, all of its pieces
  double prompts_ms = 0;  ///< of other clients' prompts: running · prefill / output_tokens
  double host_ms = 0;     ///< of the framework
  // what the first token waits for
  double own_prompt_ms = 0;  ///< its prompt, in steps that others' tokens share
  double step_wait_ms = 0;   ///< half a step that has begun
  double queue_ms = 0;       ///< prompts before it: of the first burst, and of those that come together later
  double memory_wait_ms = 0;   ///< until a running request leaves the memory
  double request_host_ms = 0;  ///< of the framework, a request
  // beside the answer
  double roofline_tpot_ms = 0;  ///< the same sum of data-sheet times
};

/// Serves `load`. Errors: serve-does-not-fit, and those of check_deployment. `model` is as the checkpoint
/// has it.
Parsed<ServeCost> serve(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                        const Load& load);

/// The pieces that a prompt is cut into: new tokens of each, and keys with those before.
struct PromptPiece {
  std::int64_t tokens = 0, keys = 0;
};
/// Pieces of at most `step_tokens` tokens, `others` of a step's tokens being taken.
std::vector<PromptPiece> prompt_pieces(std::int64_t input_tokens, std::int64_t step_tokens,
                                       std::int64_t others);

}  // namespace plumbline
