// SPDX-License-Identifier: Apache-2.0
// What an analytic formula says of one operation.
#pragma once

namespace plumbline {

/// Microseconds, whole and in parts.
struct OperationAnalytic {
  double us = 0;
  double launch_us = 0, memory_us = 0, tensor_us = 0;
  double moved_us = 0;          ///< besides: rows permuted, activations quantised, caches written
  double split = 1, waves = 0;  ///< of a GEMM
  double longest_us = 0, reread_us = 0, items_us = 0;  ///< of attention
};

}  // namespace plumbline
