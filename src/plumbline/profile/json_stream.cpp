// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/json_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::profile {

bool JsonBuffer::refill(const char*& begin, const char*& end) {
  if (base_ + size_ > last_value_ + kMaxValue) {
    too_long_ = true;
  } else {
    const std::size_t got = source_.read(bytes_.data(), kChunk);
    if (got > 0) {
      base_ += size_;
      size_ = got;
      bytes_[got] = '\0';
      begin = bytes_.data();
      end = begin + got;
      return true;
    }
  }
  bytes_[size_] = '\0';
  begin = end = bytes_.data() + size_;
  return false;
}

Location place_of_byte(const std::string& path, std::uint64_t offset) {
  auto source = ByteSource::open(path);
  Location at{path, 1, 1};
  if (!source.ok()) return at;
  std::string chunk(1 << 16, '\0');
  std::uint64_t done = 0;
  while (done < offset) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), offset - done));
    const std::size_t got = (*source.value)->read(chunk.data(), want);
    if (got == 0) break;
    for (std::size_t i = 0; i < got; ++i) {
      const auto c = static_cast<unsigned char>(chunk[i]);
      at.column = c == '\n' ? 1 : at.column + ((c & 0xC0) == 0x80 ? 0 : 1);
      at.line += c == '\n' ? 1 : 0;
    }
    done += got;
  }
  return at;
}

Diagnostic broken_json(const std::string& path, rapidjson::ParseErrorCode code, std::uint64_t offset,
                       bool at_end, bool too_long) {
  std::string what;
  if (too_long) {
    what = fmt::format("a string of over 64 MiB before byte {}: the trace is damaged", offset);
  } else if (at_end) {
    what = fmt::format("the trace ends in the middle, at byte {}: it was cut (a crash, a full disk)", offset);
  } else {
    what = fmt::format("this is not JSON at byte {}", offset);
    if (code == rapidjson::kParseErrorObjectMissCommaOrCurlyBracket) {
      what += "; an old PyTorch did not escape quotes in kernel names";
    }
  }
  return diagnose("trace-broken", what, place_of_byte(path, offset));
}

}  // namespace plumbline::profile
