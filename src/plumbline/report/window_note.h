// SPDX-License-Identifier: Apache-2.0
// Why a sliding window is predicted to cost more than full attention, in a sentence.
#pragma once

#include <string>
#include <vector>

#include "plumbline/model/predict.h"
#include "plumbline/search/model_cost.h"

namespace plumbline {

/// Where the attention of a layer with a sliding window takes longer than the same without: both times and
/// the kernels that they belong to. Empty where it does not, and for the proxy.
std::string window_note(const Predictor& predictor, const Layer& layer);

/// The same for the timed layers of a whole model, each sentence once.
std::vector<std::string> cost_notes(const Predictor& predictor, const ModelCost& cost);

}  // namespace plumbline
