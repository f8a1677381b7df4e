// SPDX-License-Identifier: Apache-2.0
// Regular expressions: PCRE2 with JIT and limits, so that no pattern can hang.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// A compiled pattern (UTF mode; Python's `re` syntax nearly everywhere, and its meaning where PCRE2 reads
/// the same text otherwise: {,n}, \Z, a '[' inside a set). Move-only; one per thread.
class Regex {
 public:
  /// What compile() found: a usable regex, or `error` with the offset (in bytes) of the mistake.
  struct Compiled;

  /// Compiles `pattern`. With `jit` false the interpreter runs it: cheaper for a handful of searches.
  static Compiled compile(std::string_view pattern, bool jit = true);

  enum class Match { no, yes, limit };  ///< `limit`: the match limits were exceeded, nothing is known

  /// Is the pattern found anywhere in `text`?
  Match search(std::string_view text) const;

  /// Every non-overlapping match as [begin, end) byte offsets; none when a limit is exceeded.
  std::vector<std::pair<std::size_t, std::size_t>> find_all(std::string_view text) const;

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

 private:
  static Compiled compile_pcre2(std::string_view pattern, bool jit);
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Regex::Compiled {
  std::vector<Regex> regex;  ///< one element, or none when the pattern is invalid
  std::string error;         ///< PCRE2's message, with a hint where Python's syntax differs
  std::size_t offset = 0;    ///< byte offset of the mistake in the pattern

  bool ok() const { return !regex.empty(); }  ///< the pattern is usable
};

}  // namespace plumbline
