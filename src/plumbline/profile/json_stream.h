// SPDX-License-Identifier: Apache-2.0
// A RapidJSON input stream over a ByteSource: bounded memory, and the byte where parsing stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <rapidjson/reader.h>

#include "plumbline/profile/source.h"

namespace plumbline::profile {

/// The buffer behind JsonStream, which RapidJSON copies for speed.
class JsonBuffer {
 public:
  explicit JsonBuffer(ByteSource& source) : source_(source), bytes_(kChunk + 1, '\0') {}

  /// Reads the next chunk; [begin, end) then holds it, and *end is '\0'. False at the end of the text.
  bool refill(const char*& begin, const char*& end);

  std::uint64_t base() const { return base_; }  ///< offset in the text of the current chunk
  const char* chunk() const { return bytes_.data(); }
  /// Called when a value has been taken: what lies between two values may not be endless.
  void mark(std::uint64_t offset) { last_value_ = offset; }
  bool too_long() const { return too_long_; }

 private:
  static constexpr std::size_t kChunk = 1 << 18;
  static constexpr std::uint64_t kMaxValue = 64U << 20;  ///< a longer string is damage, not a name

  ByteSource& source_;
  std::string bytes_;
  std::size_t size_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t last_value_ = 0;
  bool too_long_ = false;
};

/// What RapidJSON reads from. Small: it is copied into registers.
struct JsonStream {
  using Ch = char;

  explicit JsonStream(JsonBuffer& b) : buffer(&b) { b.refill(at, end); }
  Ch Peek() const { return *at; }
  /// Inlined whatever the compiler counts: RapidJSON calls it for every byte outside strings.
  [[gnu::always_inline]] Ch Take() {
    const Ch c = *at;
    if (++at >= end) next();
    return c;
  }
  std::size_t Tell() const { return buffer->base() + static_cast<std::size_t>(at - buffer->chunk()); }
  bool at_end() const { return at == end; }  ///< after a parse: nothing is left

  // Writing is not possible; RapidJSON wants the names.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  std::size_t PutEnd(Ch*) { return 0; }

  JsonBuffer* buffer;
  const char* at = nullptr;
  const char* end = nullptr;

 private:
  [[gnu::noinline, gnu::cold]] void next() {
    if (at > end) at = end;  // a Take() at the very end stays there
    const char* begin = at;
    if (buffer->refill(begin, end)) at = begin;
  }
};

/// Line and column of a byte, by reading the text again (only when something is wrong).
Location place_of_byte(const std::string& path, std::uint64_t offset);

/// Why a document cannot be read: cut (`at_end`), a string without end (`too_long`), or no JSON.
/// trace-broken.
Diagnostic broken_json(const std::string& path, rapidjson::ParseErrorCode code, std::uint64_t offset,
                       bool at_end, bool too_long);

/// The first byte of [p, end) that a JSON string may not hold as it is: a quote, a backslash, a control
/// character.
inline const char* find_string_stop(const char* p, const char* end) {
  // Eight bytes at a time: a byte of `stop` gets its high bit where the byte is one of the three.
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = 0x8080808080808080ULL;
  const auto has_zero = [](std::uint64_t v) { return (v - kOnes) & ~v & kHigh; };
  for (; end - p >= 8; p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    const std::uint64_t control = (word - kOnes * 0x20) & ~word & kHigh;
    if ((has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\')) | control) != 0) break;
  }
  while (p < end && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
  return p;
}

}  // namespace plumbline::profile

// What RapidJSON does for texts that lie in memory, done for chunks: whole stretches at a time. The results
// are those of its generic, byte by byte code.
namespace rapidjson {
template <>
struct StreamTraits<plumbline::profile::JsonStream> {
  enum { copyOptimization = 1 };
};

template <>
inline void SkipWhitespace(plumbline::profile::JsonStream& is) {
  while (true) {
    const char* p = is.at;
    while (p < is.end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    if (p < is.end || p == is.at) {
      is.at = p;
      return;
    }
    is.at = p - 1;
    is.Take();  // the last byte of the chunk: brings the next one
  }
}

template <>
template <>
inline void GenericReader<UTF8<>, UTF8<>, CrtAllocator>::ScanCopyUnescapedString<
    plumbline::profile::JsonStream, GenericReader<UTF8<>, UTF8<>, CrtAllocator>::StackStream<char>>(
    plumbline::profile::JsonStream& is, StackStream<char>& os) {
  if (is.end - is.at < 2) return;
  const char* stop =
      plumbline::profile::find_string_stop(is.at, is.end - 1);  // the last byte brings the next chunk
  const auto count = static_cast<std::size_t>(stop - is.at);
  if (count == 0) return;
  std::memcpy(os.Push(static_cast<SizeType>(count)), is.at, count);
  is.at = stop;
}
}  // namespace rapidjson
