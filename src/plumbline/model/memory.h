// SPDX-License-Identifier: Apache-2.0
// What a model needs of each GPU's memory, and what fits beside its weights.
#pragma once

#include <cstdint>

#include "plumbline/model/transformer.h"

namespace plumbline {

/// Over how many GPUs the model is laid, and what they are asked to hold.
struct MemoryQuestion {
  double gpu_bytes = 0;              ///< of one GPU; 0: not known, and then everything fits
  double share = 1;                  ///< of it that may be used: frameworks keep some back
  std::int64_t gpus = 1;             ///< that share every layer
  std::int64_t rows = 1;             ///< tokens that go through the model at once
  std::int64_t logit_rows = 1;       ///< of them, that reach the LM head
  std::int64_t sequences = 1;        ///< with a cache
  std::int64_t sequence_tokens = 1;  ///< cached of each
};

/// Bytes of one GPU. Where the model is laid over several, each holds an equal share of the weights, and KV
/// heads are repeated when there are fewer of them than GPUs; a latent cache is whole on each.
struct MemoryUse {
  double gpu_bytes = 0;            ///< as asked
  double usable_bytes = 0;         ///< gpu_bytes · share
  double weight_bytes = 0;         ///< as they are kept
  double activation_bytes = 0;     ///< an estimate: the widest layer's inputs and outputs, and the logits
  double cache_bytes = 0;          ///< KV or latent cache, and recurrent state, of all sequences
  double sequence_bytes = 0;       ///< the same of one sequence
  std::int64_t max_sequences = 0;  ///< of sequence_tokens that fit beside weights and activations
  std::int64_t max_tokens = 0;     ///< that those sequences cache together
  bool known = false;              ///< gpu_bytes is
  bool fits = true;

  double needed_bytes() const { return weight_bytes + activation_bytes + cache_bytes; }
};

/// Bytes that one GPU of `gpus` caches for one sequence of `tokens`, windows counted.
double cache_bytes_per_gpu(const Transformer& model, std::int64_t tokens, std::int64_t gpus);

/// Weights, activations and caches of one GPU, and what fits.
MemoryUse memory_use(const Transformer& model, const MemoryQuestion& question);

}  // namespace plumbline
