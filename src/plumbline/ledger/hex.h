// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal text and back.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::ledger {

/// Lower-case hexadecimal.
inline std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

/// The bytes again; `hex` holds an even number of lower-case digits.
inline std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return out;
}

}  // namespace plumbline::ledger
