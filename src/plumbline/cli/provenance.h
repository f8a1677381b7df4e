// SPDX-License-Identifier: Apache-2.0
// The side file that says where an artifact came from. Everything that may differ between two runs stands
// here, so that nothing of it stands in the artifact.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline::cli {

/// A file read or written, with what it held.
struct ProvenanceFile {
  std::string path;
  std::string content;
};

/// Writes the command line, the tool's version, the time (UTC), the host, the working directory and every
/// file with its SHA-256 as JSON. Errors: file-unwritable.
Diagnostics write_provenance(const std::string& path, const std::vector<ProvenanceFile>& inputs,
                             const std::vector<ProvenanceFile>& outputs);

}  // namespace plumbline::cli
