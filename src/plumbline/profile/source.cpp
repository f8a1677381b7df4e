// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace plumbline::profile {
namespace {

constexpr std::size_t kChunk = 1 << 20;

enum class Encoding { unknown, utf8, utf16_le, utf16_be };

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

}  // namespace

struct ByteSource::Impl {
  std::string path;
  Progress progress;
  int fd = -1;
  std::uint64_t size = 0;
  std::uint64_t raw_read = 0;
  std::uint64_t reported = 0;
  bool raw_end = false;
  bool gzip = false;
  bool stream_open = false;  ///< inside a gzip member
  z_stream z{};
  std::vector<unsigned char> packed;
  Encoding encoding = Encoding::unknown;
  std::string front;  ///< the first bytes, looked at and not yet given out
  std::string text;   ///< converted text not yet given out
  std::size_t text_at = 0;
  std::string odd;    ///< UTF-16 bytes that wait for their other half
  char32_t high = 0;  ///< a high surrogate that waits for the low one
  std::optional<Diagnostic> error;

  ~Impl() {
    if (gzip) inflateEnd(&z);
    if (fd >= 0) ::close(fd);
  }

  std::size_t read_raw(void* out, std::size_t n) {
    while (!raw_end && !error) {
      const ssize_t got = ::read(fd, out, n);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        error = diagnose("file-unreadable", fmt::format("cannot be read: {}", std::strerror(errno)), {path});
        return 0;
      }
      if (got == 0) raw_end = true;
      raw_read += static_cast<std::uint64_t>(got);
      if (progress && raw_read - reported >= 8 * kChunk) {
        reported = raw_read;
        progress(raw_read, size);
      }
      return static_cast<std::size_t>(got);
    }
    return 0;
  }

  void gzip_error(const char* what) {
    error = diagnose("gzip-broken",
                     fmt::format("{} at byte {} of the packed file", what, raw_read - z.avail_in), {path});
  }

  /// Unpacked bytes; members that follow each other are one text.
  std::size_t read_unpacked(char* out, std::size_t n) {
    if (!gzip) return read_raw(out, n);
    z.next_out = reinterpret_cast<Bytef*>(out);
    z.avail_out = static_cast<uInt>(std::min<std::size_t>(n, 1U << 30));
    const uInt wanted = z.avail_out;
    while (z.avail_out == wanted && !error) {
      if (z.avail_in == 0) {
        z.next_in = packed.data();
        z.avail_in = static_cast<uInt>(read_raw(packed.data(), packed.size()));
        if (z.avail_in == 0) {
          if (stream_open && !error) gzip_error("the file ends in the middle");
          break;
        }
      }
      if (!stream_open) {
        if (*z.next_in != 0x1F) break;  // padding behind the last member
        inflateReset(&z);
        stream_open = true;
      }
      const int status = inflate(&z, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        stream_open = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        gzip_error(z.msg != nullptr ? z.msg : "damaged data");
      }
    }
    return wanted - z.avail_out;
  }

  void start() {
    std::string head(4, '\0');
    std::size_t got = 0;
    while (got < 2) {
      const std::size_t more = read_raw(head.data() + got, 2 - got);
      if (more == 0) break;
      got += more;
    }
    head.resize(got);
    if (head == "\x1F\x8B") {
      packed.resize(kChunk / 4);
      std::memcpy(packed.data(), head.data(), 2);
      z.next_in = packed.data();
      z.avail_in = 2;
      if (inflateInit2(&z, 15 + 16) != Z_OK) {
        error = diagnose("gzip-broken", "zlib cannot be started", {path});
        return;
      }
      gzip = stream_open = true;
      head.clear();
    }
    front = head;
    while (front.size() < 4) {
      char buffer[4];
      const std::size_t more = read_unpacked(buffer, 4 - front.size());
      if (more == 0) break;
      front.append(buffer, more);
    }
    const auto byte = [&](std::size_t i) {
      return i < front.size() ? static_cast<unsigned char>(front[i]) : 256U;
    };
    encoding = Encoding::utf8;
    if (byte(0) == 0xFF && byte(1) == 0xFE) {
      encoding = Encoding::utf16_le;
      front.erase(0, 2);
    } else if (byte(0) == 0xFE && byte(1) == 0xFF) {
      encoding = Encoding::utf16_be;
      front.erase(0, 2);
    } else if (byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) {
      front.erase(0, 3);
    } else if (byte(0) < 128 && byte(0) > 0 && byte(1) == 0 && byte(2) != 0 && byte(2) < 128 &&
               byte(3) == 0) {
      encoding = Encoding::utf16_le;  // no BOM, and every second byte is 0
    } else if (byte(0) == 0 && byte(1) > 0 && byte(1) < 128 && byte(2) == 0 && byte(3) > 0 && byte(3) < 128) {
      encoding = Encoding::utf16_be;
    }
  }

  void convert(const std::string& bytes) {
    odd += bytes;
    text.clear();
    text_at = 0;
    std::size_t i = 0;
    for (; i + 1 < odd.size(); i += 2) {
      const auto a = static_cast<unsigned char>(odd[i]);
      const auto b = static_cast<unsigned char>(odd[i + 1]);
      const bool little = encoding == Encoding::utf16_le;
      const auto unit = static_cast<char32_t>(little ? a + 256U * b : b + 256U * a);
      if (unit >= 0xD800 && unit < 0xDC00) {
        if (high != 0) append_utf8(text, 0xFFFD);
        high = unit;
      } else if (unit >= 0xDC00 && unit < 0xE000) {
        append_utf8(text, high != 0 ? 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00) : U'\uFFFD');
        high = 0;
      } else {
        if (high != 0) append_utf8(text, 0xFFFD);
        high = 0;
        append_utf8(text, unit);
      }
    }
    odd.erase(0, i);
  }

  std::size_t read_text(char* out, std::size_t n) {
    if (encoding == Encoding::unknown) start();
    if (encoding == Encoding::utf8) {
      if (!front.empty()) {
        const std::size_t k = std::min(n, front.size());
        std::memcpy(out, front.data(), k);
        front.erase(0, k);
        return k;
      }
      return read_unpacked(out, n);
    }
    while (text_at == text.size()) {
      std::string bytes = std::move(front);
      front.clear();
      if (bytes.empty()) {
        bytes.resize(kChunk / 4);
        bytes.resize(read_unpacked(bytes.data(), bytes.size()));
        if (bytes.empty()) return 0;
      }
      convert(bytes);
    }
    const std::size_t k = std::min(n, text.size() - text_at);
    std::memcpy(out, text.data() + text_at, k);
    text_at += k;
    return k;
  }
};

ByteSource::ByteSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ByteSource::~ByteSource() = default;

Parsed<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, Progress progress) {
  using Result = std::unique_ptr<ByteSource>;
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->progress = std::move(progress);
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  impl->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (impl->fd < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return failed<Result>(
        missing
            ? diagnose("file-missing", "no such file", {path})
            : diagnose("file-unreadable", fmt::format("cannot be opened: {}", std::strerror(errno)), {path}));
  }
  struct stat info {};
  if (::fstat(impl->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    const char* kind = S_ISDIR(info.st_mode) ? "a directory, not a file" : "not a regular file";
    return failed<Result>(diagnose("file-not-regular", kind, {path}));
  }
  impl->size = static_cast<std::uint64_t>(info.st_size);
  return {Result(new ByteSource(std::move(impl))), {}};
}

std::size_t ByteSource::read(char* out, std::size_t size) {
  if (impl_->error) return 0;
  const std::size_t got = impl_->read_text(out, size);
  return impl_->error ? 0 : got;
}

const std::optional<Diagnostic>& ByteSource::error() const { return impl_->error; }

Parsed<std::string> read_head(const std::string& path, std::size_t size) {
  auto source = ByteSource::open(path);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  std::string head(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const std::size_t got = (*source.value)->read(head.data() + have, size - have);
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  // A broken packed file is still detected by what could be unpacked; the importer reports the break.
  if (have == 0 && (*source.value)->error()) return failed<std::string>(*(*source.value)->error());
  return {std::move(head), {}};
}

}  // namespace plumbline::profile
