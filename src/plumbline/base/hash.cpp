// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/sha2.h>

#include <array>
#include <fstream>
#include <vector>

namespace plumbline {

std::string sha256_hex(std::string_view bytes) {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  sha256_ctx state;
  sha256_init(&state);
  std::vector<char> piece(256 << 10);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sha256_update(&state, static_cast<std::size_t>(file.gcount()),
                  reinterpret_cast<const std::uint8_t*>(piece.data()));
  }
  if (!file.eof()) return {};
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace plumbline
