// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace plumbline::profile {
namespace {

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): message text only

/// A new file that no name leads to; below 0 where there can be none.
int nameless_file() {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  std::string name =
      fmt::format("{}/plumbline-XXXXXX", folder == nullptr || *folder == '\0' ? "/tmp" : folder);
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

Spool::Spool(int fd) : fd_(fd), path_(fmt::format("/dev/fd/{}", fd)) {}
Spool::~Spool() {
  if (fd_ >= 0) ::close(fd_);
}

Parsed<Spool> Spool::of(int fd, const std::string& name) {
  const auto unreadable = [&](const char* what) {
    return failed<Spool>(diagnose("file-unreadable", fmt::format("{}: {}", what, reason()), {name}));
  };
  const int kept = nameless_file();
  if (kept < 0) return unreadable("no temporary file to keep it in");
  Spool spool(kept);
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable("cannot be read");
    if (got == 0) break;
    if (!write_all(kept, buffer.data(), static_cast<std::size_t>(got)))
      return unreadable("cannot be kept in a temporary file");
  }
  return {std::move(spool), {}};
}

}  // namespace plumbline::profile
