// SPDX-License-Identifier: Apache-2.0
// What the recorder that was injected into a process wrote (plumbline-recording/1), as a kernel table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// The text that one process wrote, and the file it stood in.
struct RecordingText {
  std::string text;
  std::string file;
};

/// What the caller knows of the recorded region.
struct RecordingOptions {
  std::optional<std::int64_t> calls;   ///< window calls in it; else what the program itself said
  std::optional<std::int64_t> device;  ///< GPU by index; several devices without it are refused
};

/// The table of the one process that launched kernels. Errors: record-malformed, record-no-region,
/// record-failed, record-lost, record-several-processes, record-several-devices.
Parsed<KernelTable> table_of_recordings(const std::vector<RecordingText>& recordings,
                                        const RecordingOptions& options = {});

}  // namespace plumbline
