// SPDX-License-Identifier: Apache-2.0
// Deployment: how a whole model is laid over the GPUs of a host, and in which formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plumbline/model/dtype.h"
#include "plumbline/model/predict.h"
#include "plumbline/model/transformer.h"

namespace plumbline {

/// How a model is served.
struct Deployment {
  std::int64_t tp = 1;             ///< GPUs that share every layer: heads, widths and words are split
  std::int64_t ep = 1;             ///< of them, groups that hold whole experts; tp / ep split each expert
  std::optional<Dtype> weights{};  ///< of every projection; none: as the checkpoint keeps them
  std::optional<Dtype> cache{};    ///< of the KV cache; none: as the checkpoint says, else bf16
};

/// The formats that one layer's kernels run in.
struct LayerFormats {
  Dtype attention = Dtype::bf16, mlp = Dtype::bf16, experts = Dtype::bf16, shared = Dtype::bf16;
};

/// The format of kernels that work on weights kept so, or none: no table of kernels has it.
std::optional<Dtype> kernel_format(const WeightFormat& weights);

/// The formats of that layer, or none where a kernel of its own would be needed.
std::optional<LayerFormats> formats_of(const TransformerLayer& layer, const Deployment& deployment);

/// The cache's format.
Dtype cache_format(const Transformer& model, const Deployment& deployment);

/// The model as it is kept under that deployment: precisions and bytes of `weights`, where they are given.
Transformer as_deployed(const Transformer& model, const Deployment& deployment);

/// A layer of the model as a Layer with parts, whole, with `tp` and `ep` to split it by. Its formats are
/// known.
Layer layer_of(const Transformer& model, const TransformerLayer& layer, const Deployment& deployment);

/// Why a model cannot be laid out so (`split`), or a kernel that it needs was not measured.
struct DeploymentProblem {
  bool split = false;
  std::string message;
};

/// Why the layers of the model cannot be predicted so, or none. The predictor has a kernel source; one of
/// data sheets alone has measured nothing, and is only asked whether the model can be split.
std::optional<DeploymentProblem> deployment_problem(const Predictor& predictor, const Transformer& model,
                                                    const Deployment& deployment);

}  // namespace plumbline
