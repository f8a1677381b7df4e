// SPDX-License-Identifier: Apache-2.0
// A served load for a terminal and as JSON.
#pragma once

#include <string>

#include "plumbline/base/json.h"
#include "plumbline/report/text_table.h"
#include "plumbline/serve/request.h"

namespace plumbline {

/// First token, tokens after it, throughput, what each waits for, the kernels of a step, and memory.
std::string serve_text(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                       const Load& load, const ServeCost& cost, const Look& look);

/// The same with every number: ttft_ms and tpot_ms with bands, parts of both, kernels of both steps.
Json serve_json(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                const Load& load, const ServeCost& cost);

}  // namespace plumbline
