// SPDX-License-Identifier: Apache-2.0
// Whether requests to a model laid out so can be predicted.
#pragma once

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/deployment.h"

namespace plumbline {

/// Why the model cannot be served so, or nothing. Codes: serve-cannot-split, serve-not-measured.
Diagnostics check_deployment(const Predictor& predictor, const Transformer& model,
                             const Deployment& deployment);

}  // namespace plumbline
