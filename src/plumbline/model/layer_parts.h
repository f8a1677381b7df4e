// SPDX-License-Identifier: Apache-2.0
// Layers with parts: the kernels of one GPU of those that share a layer, as requests. Predictions of layers,
// served steps and the reasons of cliffs take them from here. Not installed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/decoder_kernels.h"
#include "plumbline/model/deployment.h"
#include "plumbline/model/kernel_request.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/step_work.h"

namespace plumbline {

/// One kernel of a layer and how it is called in a report; `in_layer`: a product that fusion terms apply to.
struct LayerKernel {
  std::string_view name;
  KernelRequest request;
  bool in_layer = false;
};

/// The dense layer that one GPU holds: heads and widths divided, KV heads repeated where there are fewer.
/// With experts its ffn_dim is the shared experts', or 1 where there are none.
Layer local_layer(const Layer& layer);

/// The products, attention, experts and collectives of one GPU for that step. The layer is valid.
std::vector<LayerKernel> layer_kernels(const Layer& layer, const StepWork& work);

/// The LM head of one GPU: its share of the vocabulary in the head's own format where that was measured, and
/// the gathering of all shares.
struct LmHead {
  GemmShape product;
  std::optional<CollectiveShape> gather;
};
LmHead lm_head_of(const Transformer& model, const Deployment& deployment, std::int64_t rows);

/// Does the GPU run element-wise kernels of that role beside them? None inside latent attention or experts,
/// whose measured calls hold them. Products in fp8 that were measured with the kernel that quantises their
/// input hold the norms, the activation and the addition, which the framework makes there. In nvfp4 over
/// several GPUs the all-reduce does.
bool runs_pointwise(const KernelSource& source, const Layer& layer, KernelRole role);

inline constexpr std::string_view kLatentNotMeasured =
    "latent attention of these sizes: only DeepSeek-V3's were measured (hidden_dim 7168, q_lora_rank 1536, "
    "kv_lora_rank 512, heads of 128 and 64)";

/// Which kernel of a valid layer the source has not measured, as a sentence, or nothing. A source of data
/// sheets alone has measured none, says so of every kernel, and is not asked.
std::string not_measured(const KernelSource& source, const Layer& layer);

/// predict_measured() of a layer with parts. What the source has not measured is predicted from its data
/// sheet, and that kernel's provenance says specification.
Prediction predict_parts(const KernelSource& source, const Layer& layer, KernelMemory* memory = nullptr);

}  // namespace plumbline
