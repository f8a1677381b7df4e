// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/framework.h"

#include <algorithm>
#include <array>

namespace plumbline {
namespace {

// vLLM prepares a step while the one before it runs: every step_us above 0 made the rows' errors larger.
// 8,192 tokens a step are its default on these GPUs, and so are nine tenths of the memory that the driver
// reports, which is 7 % more than the data sheet's. Public loads send ten requests a slot, the first of every
// slot at once. Hopper's latent attention takes 66 us at least in its table and 29 us on the B200: the host's
// start of each kernel is in it. What an all-reduce costs beyond its own time was chosen on the H100's rows
// and halves the errors of the H200's; the B200, where FlashInfer's all-reduce makes the norm too, has none.
constexpr auto kConstants = std::to_array<FrameworkConstants>({
    {.source = "vllm",
     .step_us = 0,
     .first_token_us = 30e3,
     .step_tokens = 8192,
     .memory_share = 0.96,
     .burst = 0.1,
     .quantise_us = 5,
     .skew_us = 3,
     .skewed = "flash_attn_fa3",
     .latent_start_us = 50,
     .eager_latent = "FLASHMLA",
     .fp8_cache_as_bf16 = "flash_attn_fa3",
     .tpot_half_width = 0.25,
     .ttft_half_width = 0.7},
});

}  // namespace

const FrameworkConstants* find_framework(std::string_view source) {
  const auto at = std::find_if(kConstants.begin(), kConstants.end(),
                               [&](const FrameworkConstants& each) { return each.source == source; });
  return at == kConstants.end() ? nullptr : &*at;
}

}  // namespace plumbline
