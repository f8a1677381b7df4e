// SPDX-License-Identifier: Apache-2.0
// The [[source]] tables of a hardware file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plumbline/base/toml.h"
#include "plumbline/model/hardware.h"

namespace plumbline {

/// The kernel sources of a hardware file, in file order; empty when it has no `[[source]]`.
/// `directory` is the hardware file's own.
Parsed<std::vector<std::shared_ptr<const KernelSource>>> read_kernel_sources(const toml::table& document,
                                                                             const std::string& file,
                                                                             const std::string& directory);

}  // namespace plumbline
