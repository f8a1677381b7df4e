// SPDX-License-Identifier: Apache-2.0
// The [[source]] tables of a hardware file, and the residual file beside it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/toml.h"
#include "plumbline/model/hardware.h"

namespace plumbline {

/// The kernel sources of a hardware file, in file order; empty when it has no `[[source]]`.
/// `directory` is the hardware file's own: residual files are looked up there. `sheet` is the GPU's.
/// `only`: that source alone, as for parse_hardware. Errors: hardware-field-missing, hardware-field-invalid,
/// hardware-field-unknown, residuals-invalid, those of read_file.
Parsed<std::vector<std::shared_ptr<const KernelSource>>> read_kernel_sources(
    const toml::table& document, const std::string& file, const std::string& directory,
    const DataSheet& sheet, std::optional<std::string_view> only = {});

/// A kernel source as files: its `[[source]]` table, and the residual file that it names.
struct KernelSourceFiles {
  std::string toml;
  std::string residuals_name;  ///< STEM-SOURCE.bin
  std::string residuals;
  std::vector<std::pair<std::string, std::string>> operations;  ///< of each operation: file name, bytes
};

/// The files of `source` for a hardware file called STEM.toml; reading them back gives equal values.
KernelSourceFiles write_kernel_source(const KernelSource& source, const std::string& stem);

}  // namespace plumbline
