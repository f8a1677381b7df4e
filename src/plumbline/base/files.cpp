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
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

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

Parsed<std::string> require_utf8(std::string text, const std::string& path) {
  if (const auto bad = first_invalid_utf8(text)) {
    const TextPosition at = position_at(text, *bad);
    return failed<std::string>(diagnose("file-not-utf8", "byte " + std::to_string(*bad) + " is not UTF-8",
                                        {path, at.line, at.column}));
  }
  return {std::move(text), {}};
}

Parsed<std::string> read_text_file(const std::string& path, std::uint64_t max_bytes) {
  Parsed<std::string> result = read_file(path, max_bytes);
  return result.ok() ? require_utf8(std::move(*result.value), path) : result;
}

namespace {

bool write_whole(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Diagnostics unwritable(const std::string& path, const std::string& what) {
  return {diagnose("file-unwritable", what, {path})};
}

/// A new file beside `path` that nobody else has open, under a name that no link waits at.
std::pair<int, std::string> create_beside(const std::string& path, mode_t mode) {
  for (int attempt = 0;; ++attempt) {
    std::string name = fmt::format("{}.tmp{}.{}", path, ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST || attempt == 100) return {fd, std::move(name)};
  }
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty() || path_.find('\0') != std::string::npos) {
    trouble_ = unwritable(path_, "is not a file name");
    return;
  }
  struct stat info {};
  exists_ = ::lstat(path_.c_str(), &info) == 0;
  if (exists_ && S_ISLNK(info.st_mode)) {
    std::error_code bad;
    target_ = std::filesystem::canonical(path_, bad).string();
    if (bad) {
      trouble_ = unwritable(path_, "is a link that leads nowhere");
      return;
    }
    exists_ = ::stat(target_.c_str(), &info) == 0;
  }
  mode_ = info.st_mode & 07777, user_ = info.st_uid, group_ = info.st_gid;
  if (exists_ && S_ISDIR(info.st_mode)) {
    trouble_ = unwritable(path_, "cannot be written: it is a directory");
  } else if (exists_ && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) {
    // Into a pipe or a character device: there is nothing to replace. O_NONBLOCK: a pipe that nobody reads
    // refuses instead of hanging.
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file_ < 0) {
      trouble_ = unwritable(path_, "cannot be opened: " + reason());
    } else {
      ::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_NONBLOCK);
    }
  } else if (exists_ && !S_ISREG(info.st_mode)) {
    trouble_ = unwritable(path_, "is not a regular file");
  } else if (exists_ && ::access(target_.c_str(), W_OK) != 0) {
    trouble_ = unwritable(path_, "cannot be written: " + reason());
  } else {
    std::tie(file_, beside_) = create_beside(target_, exists_ ? 0600 : 0666);
    if (file_ < 0) {
      beside_.clear();
      trouble_ = unwritable(path_, "cannot be created: " + reason());
    }
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

bool OutputFile::refuse(const std::string& what) {
  trouble_ = unwritable(path_, what + ": " + reason());
  return false;
}

bool OutputFile::write(std::string_view content) {
  if (!trouble_.empty()) return false;
  return write_whole(file_, content) || refuse("cannot be written");
}

Diagnostics OutputFile::commit() {
  if (!trouble_.empty() || beside_.empty()) return trouble_;
  if (exists_) {
    // Only root may give a file away; without that right the new file is the writer's, as an editor leaves
    // it.
    [[maybe_unused]] const int owner = ::fchown(file_, user_, group_);
    if (::fchmod(file_, mode_) != 0) refuse("cannot keep its mode");
  }
  if (trouble_.empty() && ::fsync(file_) != 0 && errno != EINVAL) refuse("cannot be flushed");
  if (trouble_.empty() && ::rename(beside_.c_str(), target_.c_str()) != 0)
    refuse("cannot be renamed into place");
  if (trouble_.empty()) beside_.clear();
  return trouble_;
}

Diagnostics write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  return file.commit();
}

Diagnostics distinct_outputs(std::span<const std::string> paths) {
  Diagnostics found;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (path.empty() || path == "-") continue;
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode)) continue;  // /dev/null takes any number
    std::error_code bad;
    const std::string whole =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path), bad).string();
    if (!seen.insert(bad ? path : whole).second) {
      found.push_back(diagnose("file-same-output", "two outputs of this command go to one file", {path}));
    }
  }
  return found;
}

}  // namespace plumbline
