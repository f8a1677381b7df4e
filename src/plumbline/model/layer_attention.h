// SPDX-License-Identifier: Apache-2.0
// The attention of a layer, as its kernels are asked for.
#pragma once

#include "plumbline/model/layer.h"
#include "plumbline/model/measured_attention.h"

namespace plumbline {

/// Heads, lengths and window of the layer's attention. A window of all keys or more is none.
AttentionShape attention_shape(const Layer& layer);

}  // namespace plumbline
