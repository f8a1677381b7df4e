// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/csv.h"

#include <algorithm>
#include <cstring>

namespace plumbline::profile {
namespace {

constexpr std::size_t kFirstChunk = 64 << 10;
constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kMaxRecord = 1 << 20;  ///< a longer quoted field is a quote that never closes
constexpr std::size_t kMaxLine = 64U << 20;  ///< a longer line is cut: no profiler writes one

}  // namespace

CsvReader::CsvReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)), chunk_(kFirstChunk) {}

/// More bytes behind size_, after moving the current line to the front. False at the end of the file.
bool CsvReader::fill() {
  if (end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, size_ - begin_);
    next_ -= begin_;
    size_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < size_ + chunk_) buffer_.resize(std::max(size_ + chunk_, buffer_.size() * 3 / 2));
  const std::size_t got = source_->read(buffer_.data() + size_, chunk_);
  chunk_ = std::min(chunk_ * 2, kChunk);
  size_ += got;
  end_ = got == 0;
  return got > 0;
}

/// Offset of the line end at or behind begin_ + from, filling as needed; npos when the file ends first.
std::size_t CsvReader::find_newline(std::size_t from) {
  while (true) {
    const char* at = buffer_.data() + begin_ + from;
    const std::size_t length = size_ - begin_ - from;
    const void* hit = length == 0 ? nullptr : std::memchr(at, '\n', length);
    if (hit != nullptr) return static_cast<std::size_t>(static_cast<const char*>(hit) - buffer_.data());
    from = size_ - begin_;
    if (from > kMaxLine || !fill()) return std::string::npos;
  }
}

bool CsvReader::next_line() {
  begin_ = next_;
  number_ = lines_ + 1;
  std::size_t newline = find_newline(0);
  std::size_t stop = newline;
  if (newline == std::string::npos) {
    if (begin_ == size_) return false;
    stop = size_;
    next_ = size_;
  } else {
    next_ = newline + 1;
  }
  open_end_ = newline == std::string::npos;
  ++lines_;
  if (stop > begin_ && buffer_[stop - 1] == '\r') --stop;
  line_ = std::string_view(buffer_).substr(begin_, stop - begin_);
  return true;
}

/// Takes one more line into line_. False when the file or the patience ends.
bool CsvReader::extend() {
  if (next_ - begin_ > kMaxRecord) return false;
  const std::size_t from = next_ - begin_;
  if (begin_ + from == size_ && !fill()) return false;
  const std::size_t newline = find_newline(from);
  std::size_t stop = newline == std::string::npos ? size_ : newline;
  next_ = newline == std::string::npos ? size_ : newline + 1;
  open_end_ = newline == std::string::npos;
  ++lines_;
  if (stop > begin_ && buffer_[stop - 1] == '\r') --stop;
  line_ = std::string_view(buffer_).substr(begin_, stop - begin_);
  return true;
}

void CsvReader::take_quoted(const char*& p, const char* end) {
  const char* start = ++p;
  const auto find_quote = [&](const char* from) {
    const void* hit = from < end ? std::memchr(from, '"', static_cast<std::size_t>(end - from)) : nullptr;
    return hit == nullptr ? end : static_cast<const char*>(hit);
  };
  const char* quote = find_quote(start);
  if (quote + 1 >= end || quote[1] != '"') {
    fields_.emplace_back(start, static_cast<std::size_t>(quote - start));
    p = quote < end ? quote + 1 : end;
    return;
  }
  unescaped_.push_back(std::make_unique<std::string>());
  std::string& text = *unescaped_.back();
  while (quote + 1 < end && quote[1] == '"') {
    text.append(start, quote + 1);
    start = quote + 2;
    quote = find_quote(start);
  }
  text.append(start, quote);
  fields_.emplace_back(text);
  p = quote < end ? quote + 1 : end;
}

void CsvReader::split_fields() {
  fields_.clear();
  unescaped_.clear();
  const char* p = line_.data();
  const char* end = p + line_.size();
  while (true) {
    if (p < end && *p == '"') {
      take_quoted(p, end);
      while (p < end && *p != ',') ++p;  // blanks behind a closing quote
    } else {
      const void* hit = p < end ? std::memchr(p, ',', static_cast<std::size_t>(end - p)) : nullptr;
      const char* comma = hit == nullptr ? end : static_cast<const char*>(hit);
      fields_.emplace_back(p, static_cast<std::size_t>(comma - p));
      p = comma;
    }
    if (p >= end) return;
    ++p;  // the comma; a comma at the end leaves one more, empty field
  }
}

bool CsvReader::split() {
  bool open = false;
  for (std::size_t counted = 0;;) {  // each byte once: a record may have very many lines
    const std::string_view fresh = line_.substr(counted);
    if (std::count(fresh.begin(), fresh.end(), '"') % 2 != 0) open = !open;
    if (!open) break;
    counted = line_.size();
    if (!extend()) return false;
  }
  split_fields();
  return true;
}

}  // namespace plumbline::profile
