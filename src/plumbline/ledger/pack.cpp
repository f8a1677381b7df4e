// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/pack.h"

#include <zlib.h>

namespace plumbline::ledger {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // no part of a run is near it

}  // namespace

std::string pack(std::string_view content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
            content.size(), 6);
  out.resize(size);
  return out;
}

std::optional<std::string> unpack(std::string_view packed, std::int64_t bytes) {
  // Deflate makes at most 1032 bytes of one: a damaged size is not believed with memory.
  if (bytes < 0 || bytes > kMostBytes || bytes / 1040 > static_cast<std::int64_t>(packed.size())) return {};
  std::string out(static_cast<std::size_t>(bytes), '\0');
  uLongf size = static_cast<uLongf>(bytes);
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 packed.size()) != Z_OK ||
      size != static_cast<uLongf>(bytes)) {
    return {};
  }
  return out;
}

}  // namespace plumbline::ledger
