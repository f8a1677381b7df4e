// SPDX-License-Identifier: Apache-2.0
// The columns of nsys stats' reports, whatever they are printed in.
#pragma once

#include <span>
#include <string_view>

#include "plumbline/profile/table_rows.h"

namespace plumbline::profile {

/// Which report a header opens.
enum class NsysReport {
  kernels,  ///< cuda_gpu_kern_sum (gpukernsum, "CUDA Kernel Statistics"), cuda_gpu_sum: a row a kernel
  trace,    ///< cuda_gpu_trace (gputrace), cuda_kern_exec_trace: a row a launch
  other,    ///< calls, ranges, memory operations
};

struct NsysTable {
  NsysReport report = NsysReport::other;
  TableColumns columns;
  bool unnamed_unit = false;  ///< nsys of 2020 named none: nanoseconds
};

/// The report of a header's titles ("Total Time (ns)", "Start (ns)").
NsysTable nsys_table(std::span<const std::string_view> titles);

}  // namespace plumbline::profile
