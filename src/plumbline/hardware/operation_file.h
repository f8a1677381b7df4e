// SPDX-License-Identifier: Apache-2.0
// The residual file of one operation: bytes out and in.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/model/operation.h"

namespace plumbline {

/// The bytes of an operation's residual file. The operation's trees are there.
std::string operation_bytes(const Operation& operation);

/// Reads them back; `path` names the file in diagnostics, `sha256` is what the hardware file says of it, and
/// `operation` what the trees must fit. Errors: residuals-invalid, those of read_file.
Parsed<OperationTrees> read_operation(const std::string& path, const std::string& sha256,
                                      const OperationKey& key, std::size_t kernels);

}  // namespace plumbline
