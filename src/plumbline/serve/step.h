// SPDX-License-Identifier: Apache-2.0
// One step of a serving engine: the kernels that one GPU runs for the tokens of a step, summed over layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/deployment.h"
#include "plumbline/model/step_work.h"

namespace plumbline {

/// The time of one kind of kernel over all layers of a step.
struct StepPart {
  std::string name;
  double ms = 0, low_ms = 0, high_ms = 0;
  Provenance provenance = Provenance::specification;  ///< the weakest
};

/// The kernels of a step on one GPU. The framework's own time is not in it.
struct StepCost {
  std::vector<StepPart> parts;  ///< in the order of their first kernel
  double ms = 0;
  double half_width = 0;  ///< of the band of the sum, on log time: the parts' errors are taken as independent
};

/// The step's kernels. `deployment` passed check_deployment.
StepCost cost_step(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                   const StepWork& work);

/// The larger of products at the tensor cores' peak and bytes at the memory's, for every projection, the
/// cache and the head: the least that such a step takes at the data sheet's rates.
double roofline_step_ms(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                        const StepWork& work);

}  // namespace plumbline
