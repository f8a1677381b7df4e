// SPDX-License-Identifier: Apache-2.0
// Text helpers that every stage needs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// `text` without Unicode white space at both ends (what Python's str.strip() removes).
std::string_view trim(std::string_view text);

/// The pieces between separators; a separator is any character of `separators` or, with `on_space`, any
/// Unicode white space. Empty pieces are dropped.
std::vector<std::string_view> split_any(std::string_view text, std::string_view separators, bool on_space);

/// ASCII lower case; other bytes stay.
std::string to_lower(std::string_view text);

/// The candidate nearest to `name` by edit distance, if it is near enough to be a likely typo.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// Cut in the middle to at most `max_chars` code points: "void flash…kernel(Params)".
std::string cut_middle(std::string_view text, std::size_t max_chars);

/// The number of terminal cells of UTF-8 text (one a code point; wide characters are not special).
std::size_t display_width(std::string_view text);

/// The offset of the first byte that is not valid UTF-8, or none.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Line and column (from 1, columns in code points) of a byte offset.
struct TextPosition {
  int line = 1;
  int column = 1;
};
/// The position of byte `offset` in `text`.
TextPosition position_at(std::string_view text, std::size_t offset);

/// `text` with control characters (an escape sequence in a kernel's name, say) made visible, so that input
/// can never drive the terminal.
std::string printable(std::string_view text);

/// printable(), and on one line: a line break or a tab becomes "\n", "\t".
std::string one_line(std::string_view text);

/// The names, each printable(), with commas between.
std::string printable_list(const std::vector<std::string>& names);

/// one_line() for Markdown: no element, link, address or emphasis comes out of it, whatever it holds.
std::string markdown_text(std::string_view text);

/// `text` for a message: on one line, in double quotes, control characters visible, cut in the middle to
/// `max_chars`.
std::string in_quotes(std::string_view text, std::size_t max_chars = 64);

/// `text` as a TOML basic string with its quotes: what a TOML reader gives back is `text` itself. Control
/// characters become \uXXXX; `text` must be UTF-8.
std::string toml_quoted(std::string_view text);

}  // namespace plumbline
