// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute says of itself between and instead of its tables, and what follows from it.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline::profile {

/// The tool's own lines ("==PROF== …", "==ERROR== …") of one file. Lines count from 1; 0 is "none".
struct NcuLog {
  int permission_line = 0;  ///< first ERR_NVGPUCTRPERM
  int error_line = 0;       ///< first ==ERROR==
  std::string error_text;   ///< what it said, printable
  int text_page_line = 0;   ///< first "Section: " of the text output, which is not a CSV
  bool no_kernels = false;
  int profiled = 0;  ///< launches it says it profiled

  /// Whether a line is one of the tool's own.
  static bool is_message(std::string_view line) { return line.starts_with("=="); }

  /// Takes a line that belongs to no table.
  void take(std::string_view line, int number);

  /// Why a file without any table has none. The first reason that holds is named, the most certain first:
  /// without the permission nothing else could have worked. Codes: ncu-permission, ncu-text-page,
  /// ncu-no-table.
  Diagnostic absent_table(const std::string& path) const;
};

}  // namespace plumbline::profile
