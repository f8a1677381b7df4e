// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/ncu_log.h"

#include <fmt/format.h>

#include "plumbline/base/text.h"

namespace plumbline::profile {

void NcuLog::take(std::string_view line, int number) {
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (!is_message(line)) {
    if (text_page_line == 0 && has("Section: ")) text_page_line = number;
    return;
  }
  if (permission_line == 0 && has("ERR_NVGPUCTRPERM")) permission_line = number;
  if (error_line == 0 && line.starts_with("==ERROR==")) {
    error_line = number;
    error_text = printable(trim(line.substr(9)));
  }
  if (has("No kernels were profiled")) no_kernels = true;
  if (line.starts_with("==PROF== Profiling")) ++profiled;
}

Diagnostic NcuLog::absent_table(const std::string& path) const {
  if (permission_line != 0) {
    return diagnose("ncu-permission",
                    "ncu was not allowed to read the performance counters (ERR_NVGPUCTRPERM)",
                    {path, permission_line, 1});
  }
  if (text_page_line != 0) {
    return diagnose("ncu-text-page", "a text page without the lines that name its launches",
                    {path, text_page_line, 1});
  }
  std::string why = "no CSV table, only the tool's messages";
  if (error_line != 0)
    why = fmt::format("no CSV table; ncu said: {}", error_text);
  else if (no_kernels)
    why = "no CSV table: no kernels were profiled";
  else if (profiled > 0)
    why = fmt::format("no CSV table: the log of {} profiled launches, without their values", profiled);
  return diagnose("ncu-no-table", why, {path, error_line, error_line != 0 ? 1 : 0});
}

}  // namespace plumbline::profile
