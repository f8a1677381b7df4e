// SPDX-License-Identifier: Apache-2.0
// Bytes of a profiler's file as a stream of UTF-8: gzip is unpacked, UTF-16 converted, a BOM removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline::profile {

using Progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// A file read from front to back, in bounded memory.
class ByteSource {
 public:
  /// Errors: file-missing, file-unreadable, file-not-regular.
  static Parsed<std::unique_ptr<ByteSource>> open(const std::string& path, Progress progress = {});
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `size` bytes of text into `out`; 0 at the end and after an error.
  std::size_t read(char* out, std::size_t size);

  /// What went wrong: file-unreadable, or gzip-broken with the byte in the packed file.
  const std::optional<Diagnostic>& error() const;

 private:
  struct Impl;
  explicit ByteSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// At most `size` bytes of text from the front of the file.
Parsed<std::string> read_head(const std::string& path, std::size_t size);

}  // namespace plumbline::profile
