// SPDX-License-Identifier: Apache-2.0
// Fitting the operations of KernelSource::operations to their rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plumbline/hardware/calibrate.h"

namespace plumbline {

/// Fits each operation of `rows` that has enough of them, replaces those in `source` and returns how many
/// were fitted. Sites: (n, k) of a GEMM; heads, KV heads, head width and window of attention; a model
/// (hidden, inter, topk, experts); heads and batch of latent attention; the message of a collective.
std::int64_t fit_operations(const std::vector<Measured<KernelRequest>>& rows, const CalibrateOptions& options,
                            KernelSource& source, std::vector<FoldReport>& folds);

}  // namespace plumbline
