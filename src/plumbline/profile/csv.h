// SPDX-License-Identifier: Apache-2.0
// CSV records from a stream that also holds lines of other kinds (a program's own output, tool messages).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/profile/source.h"

namespace plumbline::profile {

/// Lines and records of a file, in bounded memory. Views live until the next call.
class CsvReader {
 public:
  explicit CsvReader(std::unique_ptr<ByteSource> source);

  /// The next line without its end ("\n" or "\r\n"); false at the end of the file.
  bool next_line();

  std::string_view line() const { return line_; }
  int line_number() const { return number_; }  ///< of line()'s first line, from 1
  /// Whether no line end stands behind line(): it is the last one, and may be cut.
  bool open_end() const { return open_end_; }

  /// Splits line() into fields at commas. A field that opens with a quote and does not close on the line
  /// takes further lines with it. False when it never closes (within 1 MiB): `field_count` is then not
  /// meaningful.
  bool split();

  /// The fields of the last split(), quotes removed, doubled quotes single.
  const std::vector<std::string_view>& fields() const { return fields_; }

  /// What stopped the reading early, if anything did.
  const std::optional<Diagnostic>& error() const { return source_->error(); }

 private:
  bool fill();
  bool extend();
  std::size_t find_newline(std::size_t from);
  void split_fields();
  void take_quoted(const char*& p, const char* end);

  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the current line in buffer_
  std::size_t next_ = 0;   ///< behind the current line's end
  std::size_t size_ = 0;   ///< bytes of buffer_ that hold text
  std::size_t chunk_;      ///< bytes to read next: grows, so that a small file costs little
  bool end_ = false;
  bool open_end_ = false;
  std::string_view line_;
  int number_ = 0;
  int lines_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::unique_ptr<std::string>> unescaped_;
};

/// Whether any line of a file's head answers to `is(line, from_here)`; `from_here` is the head from that line
/// on, for what two lines tell together. Tables stand anywhere between a program's own output.
template <class Is>
bool any_line(std::string_view head, const Is& is) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (is(head.substr(0, end), head)) return true;
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace plumbline::profile
