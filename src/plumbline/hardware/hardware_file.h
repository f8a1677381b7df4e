// SPDX-License-Identifier: Apache-2.0
// Hardware files: TOML in, Hardware out, and back; and where the files are found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/hardware.h"

namespace plumbline {

/// A hardware file: `name`, `[sheet]` (required), `[proxy]` and `[[source]]` (optional). `directory` is where
/// files named by a `[[source]]` are looked up. Every problem is reported, not the first.
/// `only` names the one kernel source to read ("" the first one), for who will use no other: large files are
/// read and checked in the time of a short command. A name that the file lacks reads them all.
/// Errors: toml-syntax, hardware-field-missing, hardware-field-unknown, hardware-field-invalid.
Parsed<Hardware> parse_hardware(std::string_view text, const std::string& file,
                                const std::string& directory = ".",
                                std::optional<std::string_view> only = {});

/// The `name`, `[sheet]` and `[proxy]` parts as TOML; reading them back gives equal values.
std::string write_hardware(const Hardware& hardware);

/// Where hardware files are looked for, given the path of the running binary: `hardware/` beside it, then
/// `../share/plumbline/hardware/` (an installed prefix).
std::vector<std::string> hardware_directories(const std::string& binary);

/// The names (file stems) found in the directories, sorted, each once.
std::vector<std::string> hardware_names(std::span<const std::string> directories);

/// The path of the file that `name` means: `name` itself when it has a '/' or ends in ".toml", else the first
/// NAME.toml of the directories. Error: hardware-unknown, which lists the known names.
Parsed<std::string> find_hardware_file(const std::string& name, std::span<const std::string> directories);

/// find_hardware_file, read and parsed (`only`: see parse_hardware). Also the errors of read_text_file.
Parsed<Hardware> load_hardware(const std::string& name, std::span<const std::string> directories,
                               std::optional<std::string_view> only = {});

}  // namespace plumbline
