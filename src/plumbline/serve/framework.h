// SPDX-License-Identifier: Apache-2.0
// What a serving framework adds to its kernels: constants by name, calibrated on public end-to-end rows.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumbline {

/// Calibrated by tools/validate_serve.py on whole models served end to end; docs/accuracy-details.md says
/// what was tried.
struct FrameworkConstants {
  std::string_view source;    ///< the kernel source that was measured from this framework
  double step_us = 0;         ///< host time a step that no kernel hides
  double first_token_us = 0;  ///< of a request, before its first token is out: parsing, queueing, streaming
  std::int64_t step_tokens = 0;   ///< most tokens of one step: longer prompts are cut into pieces
  double memory_share = 1;        ///< of the GPU's memory that weights, activations and cache may take
  double burst = 0;               ///< share of requests that arrive together, when a load starts
  double quantise_us = 0;         ///< of a product in nvfp4: its input is quantised by a kernel before it
  double skew_us = 0;             ///< that GPUs wait at an all-reduce, for each doubling beyond two
  std::string_view skewed;        ///< the attention kernel of the GPUs that do
  double latent_start_us = 0;     ///< of a call of `eager_latent` that its table holds and a graph does not
  std::string_view eager_latent;  ///< latent attention that was timed call by call, by the source's kernel
  /// Decode attention over fp8 caches that served requests pay bf16's time for, where that is more.
  std::string_view fp8_cache_as_bf16;
  double tpot_half_width = 0;  ///< of the band that held 90 % of the rows, on log time
  double ttft_half_width = 0;  ///< the same for the first token
};

/// The constants of the framework whose kernels `source` names, or nullptr: none of its requests were seen.
const FrameworkConstants* find_framework(std::string_view source);

}  // namespace plumbline
