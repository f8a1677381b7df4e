// SPDX-License-Identifier: Apache-2.0
// The text that `plumbline window init` writes.
#pragma once

#include <string>
#include <string_view>

namespace plumbline {

/// A commented window.toml for the card `name`: it parses, and its empty lists are undeclared.
std::string contract_scaffold(std::string_view name);

}  // namespace plumbline
