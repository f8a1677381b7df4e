// SPDX-License-Identifier: Apache-2.0
// NameMatcher: one contract regex, searched in many kernel names, fast.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/regex.h"

namespace plumbline {

/// Texts of which a name must hold at least one to match `pattern`; empty when nothing is known. One text a
/// top-level alternative, each of at least two bytes. Conservative: on any syntax beyond plain characters,
/// classes, groups, anchors and quantifiers it says nothing.
std::vector<std::string> required_literals(std::string_view pattern);

/// A regex with a search for its required literals in front, so that most names cost a few nanoseconds. A
/// pattern without metacharacters is a substring search and is never compiled.
class NameMatcher {
 public:
  explicit NameMatcher(std::string_view pattern);

  /// Is the pattern found in `name`? An invalid pattern is found nowhere.
  Regex::Match search(std::string_view name);

  /// Every non-overlapping match in `name` as [begin, end) byte offsets.
  std::vector<std::pair<std::size_t, std::size_t>> find_all(std::string_view name);

 private:
  const Regex* compiled();

  std::string pattern_;
  bool literal_ = false;
  std::vector<std::string> needles_;
  std::optional<Regex::Compiled> regex_;  // compiled by the first name that passes the needles
};

}  // namespace plumbline
