// SPDX-License-Identifier: Apache-2.0
// Machine: the data-sheet rates in the units of the analytic formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plumbline/model/dtype.h"
#include "plumbline/model/hardware.h"

namespace plumbline {

/// Rates per microsecond and counts, as doubles.
struct Machine {
  double sms = 1;
  double flops_per_us = 1;                            ///< dense bf16 peak
  double fp8_flops_per_us = 1, fp4_flops_per_us = 1;  ///< bf16's where the sheet has none
  double bytes_per_us = 1;                            ///< HBM
  double link_bytes_per_us = 1;  ///< to other GPUs, one way; a PCIe 4.0 slot's where the sheet has none
  double l2_bytes = 1;
  double l2_bytes_per_us =
      1;  ///< 50 bytes/ns an SM: near what Ampere and Hopper sustain; a feature's scale only
};

/// The data sheet's figures in these units.
inline Machine machine_of(const DataSheet& sheet) {
  Machine machine;
  machine.sms = static_cast<double>(std::max<std::int64_t>(sheet.sm_count, 1));
  machine.flops_per_us = std::max(sheet.bf16_tflops, 1e-3) * 1e6;
  machine.fp8_flops_per_us = sheet.fp8_tflops > 0 ? sheet.fp8_tflops * 1e6 : machine.flops_per_us;
  machine.fp4_flops_per_us = sheet.fp4_tflops > 0 ? sheet.fp4_tflops * 1e6 : machine.fp8_flops_per_us;
  machine.link_bytes_per_us = (sheet.link_gbps > 0 ? sheet.link_gbps : 32) * 1e3;
  machine.bytes_per_us = std::max(sheet.hbm_bandwidth_gbps, 1e-3) * 1e3;
  machine.l2_bytes = static_cast<double>(std::max<std::int64_t>(sheet.l2_bytes, 1));
  machine.l2_bytes_per_us = machine.sms * 50e3;
  return machine;
}

/// The tensor cores' peak for products of that format.
inline double tensor_rate(const Machine& machine, Dtype dtype) {
  const int rate = cost_of(dtype).rate;
  return rate == 0 ? machine.flops_per_us : rate == 1 ? machine.fp8_flops_per_us : machine.fp4_flops_per_us;
}

/// The machine at another SM clock, as a share of its own: HBM keeps its rate.
inline Machine at_clock(Machine machine, double share) {
  machine.flops_per_us *= share;
  machine.fp8_flops_per_us *= share;
  machine.fp4_flops_per_us *= share;
  machine.l2_bytes_per_us *= share;
  return machine;
}

/// The machine as products of that format see it: its peak is theirs.
inline Machine machine_for(Machine machine, Dtype dtype) {
  machine.flops_per_us = tensor_rate(machine, dtype);
  return machine;
}

/// ceil(a / b) of positive numbers held as doubles.
inline double ceil_div(double a, double b) { return std::ceil(a / b); }

}  // namespace plumbline
