// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/slow_regex.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace plumbline {
namespace {

constexpr std::size_t kMostProbes = 8;
constexpr std::size_t kRunLength = 64;  // 2^64 ways for (a+)+, 64^3/6 for a*a*a*

/// One quantifier alone is linear; only several, or one over a group, can multiply.
bool may_multiply(std::string_view pattern) {
  int quantifiers = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '*' && pattern[i] != '+' && pattern[i] != '{') continue;
    quantifiers += i > 0 && pattern[i - 1] == ')' ? 2 : 1;
  }
  return quantifiers > 1;
}

bool is_literal(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ' ' || c == ':';
}

/// The pattern's characters, once each: a name that has them all passes the quick tests for what must occur.
std::string distinct_characters(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (static_cast<unsigned char>(c) < 0x80 && out.find(c) == std::string::npos) out += c;
  }
  return out;
}

}  // namespace

std::optional<std::string> text_beyond_limits(const Regex& regex, std::string_view pattern) {
  if (!may_multiply(pattern)) return {};
  const std::string characters = distinct_characters(pattern);
  std::size_t probes = 0;
  for (const char c : characters) {
    if (!is_literal(c)) continue;
    if (probes++ == kMostProbes) break;
    std::string text(kRunLength, c);
    text += '!';
    if (regex.search(text) == Regex::Match::limit) return text;
    if (regex.search(text + characters) == Regex::Match::limit) return text + characters;
  }
  return {};
}

}  // namespace plumbline
