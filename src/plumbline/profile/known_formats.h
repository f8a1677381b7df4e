// SPDX-License-Identifier: Apache-2.0
// Files that are known and not read, with the command that makes one that is.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::profile {

/// What a file that no importer claims most likely is, and what to do, in words. `head` is its front as text.
std::string guess_format(std::string_view head, const std::string& path);

}  // namespace plumbline::profile
