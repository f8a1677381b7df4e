// SPDX-License-Identifier: Apache-2.0
// Machine: the data-sheet rates in the units of the analytic formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plumbline/model/hardware.h"

namespace plumbline {

/// Rates per microsecond and counts, as doubles.
struct Machine {
  double sms = 1;
  double flops_per_us = 1;  ///< dense bf16 peak
  double bytes_per_us = 1;  ///< HBM
  double l2_bytes = 1;
  double l2_bytes_per_us =
      1;  ///< 50 bytes/ns an SM: near what Ampere and Hopper sustain; a feature's scale only
};

/// The data sheet's figures in these units.
inline Machine machine_of(const DataSheet& sheet) {
  Machine machine;
  machine.sms = static_cast<double>(std::max<std::int64_t>(sheet.sm_count, 1));
  machine.flops_per_us = std::max(sheet.bf16_tflops, 1e-3) * 1e6;
  machine.bytes_per_us = std::max(sheet.hbm_bandwidth_gbps, 1e-3) * 1e3;
  machine.l2_bytes = static_cast<double>(std::max<std::int64_t>(sheet.l2_bytes, 1));
  machine.l2_bytes_per_us = machine.sms * 50e3;
  return machine;
}

/// ceil(a / b) of positive numbers held as doubles.
inline double ceil_div(double a, double b) { return std::ceil(a / b); }

}  // namespace plumbline
