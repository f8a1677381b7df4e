// SPDX-License-Identifier: Apache-2.0
// Fitting collectives: launch and link, and a Gaussian process on what that leaves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/model/operation.h"

namespace plumbline {

/// The collective operation of `rows`. Errors are those of each message left out with all its rows; `judged`
/// gets them in row order.
std::shared_ptr<Operation> fit_collective(const std::vector<const Measured<KernelRequest>*>& rows,
                                          std::vector<std::string> kernels, std::vector<Judged>& judged);

}  // namespace plumbline
