// SPDX-License-Identifier: Apache-2.0
// A kernel table as every command that makes or shows one gives it out.
#pragma once

#include <string>

#include "plumbline/cli/command.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline::cli {

/// Writes the table to `output`, where that names a file, and prints it as JSON, Markdown or text. Returns
/// the exit status; what went wrong has then been reported.
int put_table(const Io& io, const KernelTable& table, const std::string& output, bool md);

}  // namespace plumbline::cli
