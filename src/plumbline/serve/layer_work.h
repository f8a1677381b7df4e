// SPDX-License-Identifier: Apache-2.0
// The kernels of one layer on one GPU of a deployment, as requests. Not installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/kernel_request.h"
#include "plumbline/serve/step.h"

namespace plumbline {

/// One kernel of a layer and how it is called in a report; `in_layer`: a product that fusion terms apply to.
struct LayerKernel {
  std::string_view name;
  KernelRequest request;
  bool in_layer = false;
};

/// The layer as one GPU holds it: heads and widths divided, KV heads repeated where there are fewer.
Layer local_layer(const TransformerLayer& layer, const Deployment& deployment);

/// Tokens of a step.
std::int64_t tokens_of(const StepWork& work);

/// The layer's products, attention, experts and collectives for that step. The layer's formats are known.
std::vector<LayerKernel> layer_kernels(const Transformer& model, const TransformerLayer& layer,
                                       const Deployment& deployment, const StepWork& work);

/// The first format of the layer's weights that no kernel was measured in.
std::string unmeasured_format(const TransformerLayer& layer);

}  // namespace plumbline
