// SPDX-License-Identifier: Apache-2.0
// Text files that may be packed: CSV tables as they are published.
#pragma once

#include <string>

#include "plumbline/base/files.h"

namespace plumbline {

/// read_text_file, unpacked where the bytes are gzip's, whatever the file is called. `max_bytes` bounds the
/// unpacked text too. Errors: those of read_text_file, gzip-broken, file-too-large.
Parsed<std::string> read_packed_text_file(const std::string& path, std::uint64_t max_bytes = kMaxTextBytes);

}  // namespace plumbline
