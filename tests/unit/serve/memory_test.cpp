// SPDX-License-Identifier: Apache-2.0
// What fits into a GPU's memory, against counts made by hand.
#include <gtest/gtest.h>

#include "plumbline/model/memory.h"

namespace plumbline {
namespace {

/// Two layers of 8 heads and 2 KV heads of 64, hidden 512, MLP 1024, 1000 words, all bf16.
Transformer small_model() {
  TransformerLayer layer;
  layer.shape.hidden_dim = 512;
  layer.shape.num_heads = 8;
  layer.shape.num_kv_heads = 2;
  layer.shape.head_dim = 64;
  layer.shape.ffn_dim = 1024;
  layer.value_dim = 64;
  layer.parameters = 512 * (8 + 2 + 2 + 8) * 64 + 3 * 512 * 1024;
  layer.weights_per_token = layer.parameters;
  layer.cached_elements = 2 * 2 * 64;
  set_weight_bytes(layer);
  Transformer model;
  model.hidden_dim = 512;
  model.vocab_size = 1000;
  model.layers = {layer, layer};
  model.embedding_parameters = 512'000;
  model.lm_head_parameters = 512'000;
  return model;
}

TEST(Memory, SumsByHand) {
  const Transformer model = small_model();
  const double weights = 2.0 * (2 * (655'360 + 1'572'864) + 512'000 + 512'000);
  const MemoryUse use = memory_use(model, {20e6, 1, 1, 100, 4, 4, 1000});
  EXPECT_EQ(use.weight_bytes, weights);
  // the stream and its copy, then gate, up and their product; logits in bf16 and in float
  EXPECT_EQ(use.activation_bytes, 2.0 * 100 * (2 * 512 + 3 * 1024) + 6.0 * 4 * 1000);
  EXPECT_EQ(use.sequence_bytes, 2.0 * 2 * 256 * 1000);
  EXPECT_EQ(use.cache_bytes, 4 * use.sequence_bytes);
  EXPECT_TRUE(use.fits);
  const auto left = 20e6 - weights - use.activation_bytes;
  EXPECT_EQ(use.max_sequences, static_cast<std::int64_t>(left / 1'024'000));
  EXPECT_EQ(use.max_tokens, use.max_sequences * 1000);
}

TEST(Memory, WhatDoesNotFitSaysSo) {
  const Transformer model = small_model();
  const MemoryUse weights_alone = memory_use(model, {10e6, 1, 1, 1, 1, 1, 10});
  EXPECT_FALSE(weights_alone.fits);
  EXPECT_EQ(weights_alone.max_sequences, 0);
  EXPECT_TRUE(memory_use(model, {20e6, 1, 1, 1, 1, 1, 10}).fits);
  EXPECT_FALSE(memory_use(model, {20e6, 0.5, 1, 1, 1, 1, 10}).fits) << "half of it is somebody else's";
  EXPECT_FALSE(memory_use(model, {20e6, 1, 1, 1, 1, 10, 1000}).fits) << "the cache of ten";
  const MemoryUse unknown = memory_use(model, {0, 1, 1, 1, 1, 1, 10});
  EXPECT_TRUE(unknown.fits);
  EXPECT_FALSE(unknown.known);
}

TEST(Memory, KvHeadsAreRepeatedAndLatentCachesAreWhole) {
  Transformer model = small_model();
  const double one = cache_bytes_per_gpu(model, 100, 1);
  EXPECT_EQ(cache_bytes_per_gpu(model, 100, 2), one / 2);
  EXPECT_EQ(cache_bytes_per_gpu(model, 100, 8), one / 2) << "two KV heads cannot be on eight GPUs in parts";
  for (TransformerLayer& layer : model.layers) layer.latent.kv_rank = 512;
  EXPECT_EQ(cache_bytes_per_gpu(model, 100, 8), one);
}

TEST(Memory, WindowsKeepTheirKeysAndStatesDoNotGrow) {
  Transformer model = small_model();
  model.layers[0].shape.window_size = 50;
  EXPECT_EQ(cache_bytes_per_gpu(model, 100, 1), 2.0 * 256 * (50 + 100));
  EXPECT_EQ(cache_bytes_per_gpu(model, 40, 1), 2.0 * 256 * (40 + 40));
  model.layers[1].cached_elements = 0;
  model.layers[1].state_bytes = 4096;
  EXPECT_EQ(cache_bytes_per_gpu(model, 1000, 1), 2.0 * 256 * 50 + 4096);
  model.kv_element_bytes = 1;
  EXPECT_EQ(cache_bytes_per_gpu(model, 1000, 2), 256 * 50 / 2 + 2048);
}

}  // namespace
}  // namespace plumbline
