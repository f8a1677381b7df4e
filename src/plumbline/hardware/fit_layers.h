// SPDX-License-Identifier: Apache-2.0
// Fitting what is left when kernels are known: element-wise operations, and the fusion terms of whole layers.
#pragma once

#include <cstdint>
#include <vector>

#include "plumbline/hardware/calibrate.h"

namespace plumbline {

/// Fits each element-wise operation that has at least 8 rows; others take the constants of their nearest
/// relative. Returns how many were fitted.
std::int64_t fit_elementwise(const std::vector<Measured<ElementwiseShape>>& rows, KernelSource& source,
                             std::vector<FoldReport>& folds);

/// Fits the fusion terms of each kind of layer that has at least 12 rows, on the kernels of `source`:
/// relative soft-L1 with a Gaussian prior around the generic terms, terms not below 0. Returns how many were
/// fitted.
std::int64_t fit_layers(const std::vector<Measured<Layer>>& rows, KernelSource& source,
                        std::vector<FoldReport>& folds);

}  // namespace plumbline
