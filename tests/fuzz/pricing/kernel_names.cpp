// SPDX-License-Identifier: Apache-2.0
// Any pattern on any name: the matcher's shortcut gives the answer of the regex alone.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/base/text.h"
#include "plumbline/pricing/matcher.h"
#include "plumbline/table/cpp_name.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\n');
  if (cut == std::string_view::npos) return 0;
  const std::string_view pattern = all.substr(0, cut);
  const std::string_view name = all.substr(cut + 1);
  // Importers give UTF-8; on other bytes PCRE2's JIT and its interpreter already differ.
  if (first_invalid_utf8(name)) return 0;
  const auto plain = Regex::compile(pattern, false);
  NameMatcher matcher(pattern);
  const Regex::Match got = matcher.search(name);
  const Regex::Match want = plain.ok() ? plain.regex.front().search(name) : Regex::Match::no;
  const bool limit = got == Regex::Match::limit || want == Regex::Match::limit;
  if (!limit && got != want) std::abort();
  std::size_t at = 0;
  for (const auto& [begin, end] : argument_ranges(name)) {
    if (begin < at || end <= begin || end > name.size()) std::abort();
    at = end;
  }
  return 0;
}
