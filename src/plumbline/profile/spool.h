// SPDX-License-Identifier: Apache-2.0
// A stream kept in a file without a name, so that it can be read more than once.
#pragma once

#include <string>
#include <utility>

#include "plumbline/base/diagnostics.h"

namespace plumbline::profile {

/// The file lives in $TMPDIR (or /tmp), is gone when this is destroyed and however the program ends.
class Spool {
 public:
  /// Everything that `fd` gives to its end. Errors, placed in `name`: file-unreadable (the stream cannot be
  /// read, or there is no room to keep it).
  static Parsed<Spool> of(int fd, const std::string& name);
  ~Spool();
  Spool(Spool&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  Spool& operator=(Spool&&) = delete;

  /// Opens the kept bytes, each time from their front.
  const std::string& path() const { return path_; }

 private:
  explicit Spool(int fd);
  int fd_;
  std::string path_;
};

}  // namespace plumbline::profile
