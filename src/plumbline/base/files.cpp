// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

/// Closes on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): message text only

Diagnostic too_large(const std::string& path, std::uint64_t max_bytes) {
  return diagnose("file-too-large", "larger than the limit of " + std::to_string(max_bytes) + " bytes",
                  {path});
}

/// Asks for the pages of a large buffer in one call: each first touch by itself costs a fault, which virtual
/// machines make dear. Where the kernel cannot (before Linux 5.14), nothing is lost.
void touch_at_once(char* data, std::size_t size) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t page = 4096, worth = 64 * page;
  const std::size_t skip = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (size >= worth) ::madvise(data + skip, (size - skip) / page * page, MADV_POPULATE_WRITE);
#else
  static_cast<void>(data);
  static_cast<void>(size);
#endif
}

/// `expected` bytes are made room for at once: growing step by step touches several times the memory.
Parsed<std::string> read_descriptor(int fd, const std::string& path, std::uint64_t max_bytes,
                                    std::uint64_t expected = 0) {
  std::string text;
  text.reserve(static_cast<std::size_t>(expected));
  touch_at_once(text.data(), static_cast<std::size_t>(expected));
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return failed<std::string>(diagnose("file-unreadable", "cannot be read: " + reason(), {path}));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) return failed<std::string>(too_large(path, max_bytes));
  }
  return {std::move(text), {}};
}

}  // namespace

Parsed<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  if (path == "-") return read_descriptor(STDIN_FILENO, "<stdin>", max_bytes);
  if (path.find('\0') != std::string::npos || path.empty()) {
    return failed<std::string>(diagnose("file-missing", "no such file", {path}));
  }
  // O_NONBLOCK: opening a pipe without a writer must not hang; regular files ignore it.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return failed<std::string>(missing
                                   ? diagnose("file-missing", "no such file", {path})
                                   : diagnose("file-unreadable", "cannot be opened: " + reason(), {path}));
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) {
    return failed<std::string>(diagnose("file-unreadable", "cannot be examined: " + reason(), {path}));
  }
  if (!S_ISREG(info.st_mode)) {
    const char* kind = S_ISDIR(info.st_mode) ? "a directory, not a file" : "not a regular file";
    return failed<std::string>(diagnose("file-not-regular", kind, {path}));
  }
  if (static_cast<std::uint64_t>(info.st_size) > max_bytes)
    return failed<std::string>(too_large(path, max_bytes));
  return read_descriptor(file.fd, path, max_bytes, static_cast<std::uint64_t>(info.st_size));
}

Parsed<std::string> read_text_file(const std::string& path, std::uint64_t max_bytes) {
  Parsed<std::string> result = read_file(path, max_bytes);
  if (!result.ok()) return result;
  if (const auto bad = first_invalid_utf8(*result.value)) {
    const TextPosition at = position_at(*result.value, *bad);
    return failed<std::string>(diagnose("file-not-utf8", "byte " + std::to_string(*bad) + " is not UTF-8",
                                        {path, at.line, at.column}));
  }
  return result;
}

Diagnostics write_file(const std::string& path, std::string_view content) {
  const std::string beside = path + ".tmp" + std::to_string(::getpid());
  const auto refuse = [&](const std::string& what) {
    const std::string message = what + ": " + reason();
    ::unlink(beside.c_str());
    return Diagnostics{diagnose("file-unwritable", message, {path})};
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return refuse("cannot be written");
  }
  Descriptor file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return refuse("cannot be created");
  while (!content.empty()) {
    const ssize_t put = ::write(file.fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return refuse("cannot be written");
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(file.fd) != 0 && errno != EINVAL) return refuse("cannot be flushed");
  if (::rename(beside.c_str(), path.c_str()) != 0) return refuse("cannot be renamed into place");
  return {};
}

}  // namespace plumbline
