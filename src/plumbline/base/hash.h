// SPDX-License-Identifier: Apache-2.0
// What names a file's content.
#pragma once

#include <string>
#include <string_view>

namespace plumbline {

/// The lower-case hexadecimal SHA-256 of `bytes`: 64 characters.
std::string sha256_hex(std::string_view bytes);

/// The same of a file's content, read piece by piece; "" where it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace plumbline
