// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/name_structure.h"

#include <algorithm>
#include <array>

namespace plumbline {
namespace {

/// The length of an operator's name at `at` ("operator()" is 10), or 0.
std::size_t operator_name(std::string_view name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!name.substr(at).starts_with(kWord)) return 0;
  constexpr std::array<std::string_view, 12> kSymbols = {"()", "<=>", "<<=", ">>=", "->*", "->",
                                                         "<<", ">>",  "<=",  ">=",  "<",   ">"};
  for (const std::string_view symbol : kSymbols) {
    if (name.substr(at + kWord.size()).starts_with(symbol)) return kWord.size() + symbol.size();
  }
  return 0;
}

/// A parameter list follows its name directly; a profiler's remark, "Memset (Device)", follows a blank.
bool opens_parameters(std::string_view name, std::size_t at) {
  if (at == 0 || name.substr(at).starts_with("(anonymous")) return false;
  const char before = name[at - 1];
  return before != ' ' && before != ':';
}

}  // namespace

std::vector<ByteRange> argument_ranges(std::string_view name) {
  std::vector<ByteRange> ranges;
  if (name.starts_with("_Z")) return ranges;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (const std::size_t skip = operator_name(name, i); skip > 0) {
      i += skip - 1;
      continue;
    }
    const char c = name[i];
    const bool opens = c == '<' || (c == '(' && (depth > 0 || opens_parameters(name, i)));
    const bool closes = depth > 0 && (c == ')' || (c == '>' && name[i - 1] != '-'));
    if (opens && depth++ == 0) begin = i;
    if (closes && --depth == 0) ranges.emplace_back(begin, i + 1);
  }
  if (depth > 0) ranges.emplace_back(begin, name.size());
  return ranges;
}

bool only_inside(std::span<const ByteRange> matches, std::span<const ByteRange> arguments) {
  return !matches.empty() && std::all_of(matches.begin(), matches.end(), [&](const ByteRange& match) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const ByteRange& range) {
      return range.first <= match.first && match.second <= range.second;
    });
  });
}

}  // namespace plumbline
