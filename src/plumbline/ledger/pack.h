// SPDX-License-Identifier: Apache-2.0
// Large parts, as they are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline::ledger {

/// zlib's format of `content`.
std::string pack(std::string_view content);

/// The content again, or none when `packed` is damaged or does not hold exactly `bytes` bytes.
std::optional<std::string> unpack(std::string_view packed, std::int64_t bytes);

}  // namespace plumbline::ledger
