// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/check_deployment.h"

#include <fmt/format.h>

#include "plumbline/model/measured.h"

namespace plumbline {

Diagnostics check_deployment(const Predictor& predictor, const Transformer& model,
                             const Deployment& deployment) {
  if (predictor.source == nullptr || predictor.source->specification_only) {
    return {diagnose("serve-not-measured",
                     fmt::format("'{}' has no measured kernels: a request is not predicted from a data sheet",
                                 predictor.hardware))};
  }
  if (model.head != HeadKind::language_model)
    return {diagnose("serve-not-measured", "the model has no LM head: it answers no requests")};
  if (auto wrong = deployment_problem(predictor, model, deployment)) {
    return {diagnose(wrong->split ? "serve-cannot-split" : "serve-not-measured", std::move(wrong->message))};
  }
  return {};
}

}  // namespace plumbline
