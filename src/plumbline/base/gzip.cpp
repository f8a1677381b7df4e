// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace plumbline {
namespace {

/// Closes the stream whatever happens.
struct Stream {
  z_stream z{};
  bool open = false;
  Stream() { open = inflateInit2(&z, 15 + 16) == Z_OK; }
  ~Stream() {
    if (open) inflateEnd(&z);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

}  // namespace

Parsed<std::string> read_packed_text_file(const std::string& path, std::uint64_t max_bytes) {
  auto packed = read_file(path, max_bytes);
  if (!packed.ok()) return packed;
  if (!packed.value->starts_with("\x1F\x8B")) return require_utf8(std::move(*packed.value), path);
  const auto broken = [&path](std::string_view why) {
    return failed<std::string>(diagnose("gzip-broken", std::string(why), {path, 0, 0}));
  };
  Stream stream;
  if (!stream.open) return broken("zlib cannot be started");
  z_stream& z = stream.z;
  z.next_in = reinterpret_cast<Bytef*>(packed.value->data());
  z.avail_in = static_cast<uInt>(packed.value->size());  // read_file's limit keeps this below 4 GiB
  std::string text;
  constexpr std::size_t chunk = 1U << 18;
  bool ended = false;
  while (true) {
    const std::size_t had = text.size();
    text.resize(had + chunk);
    z.next_out = reinterpret_cast<Bytef*>(text.data() + had);
    z.avail_out = static_cast<uInt>(chunk);
    const int status = inflate(&z, Z_NO_FLUSH);
    text.resize(had + chunk - z.avail_out);
    if (text.size() > max_bytes) {
      return failed<std::string>(
          diagnose("file-too-large", fmt::format("unpacked, the file has more than {} MiB", max_bytes >> 20),
                   {path, 0, 0}));
    }
    if (status == Z_STREAM_END) {
      ended = true;
      if (z.avail_in == 0 || *z.next_in != 0x1F) break;  // padding behind the last member is passed over
      inflateReset(&z);
      ended = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return broken(z.msg != nullptr ? z.msg : "damaged data");
    } else if (z.avail_in == 0 && z.avail_out > 0) {
      break;
    }
  }
  if (!ended) return broken("the file ends in the middle");
  return require_utf8(std::move(text), path);
}

}  // namespace plumbline
