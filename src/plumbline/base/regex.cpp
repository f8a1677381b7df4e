// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "plumbline/base/regex.h"

#include <pcre2.h>

#include <array>
#include <cstdint>

namespace plumbline {
namespace {

constexpr std::uint32_t kMatchLimit = 100'000;  // about a millisecond, then the pattern is given up
constexpr std::uint32_t kDepthLimit = 10'000;
constexpr std::uint32_t kHeapLimitKib = 20'000;
constexpr std::size_t kMaxPatternBytes = 20'000;

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct DataDeleter {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct ContextDeleter {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

/// Limits are the same for every pattern, so one context a thread serves them all.
pcre2_match_context* limits() {
  thread_local const std::unique_ptr<pcre2_match_context, ContextDeleter> context = [] {
    std::unique_ptr<pcre2_match_context, ContextDeleter> made(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(made.get(), kMatchLimit);
    pcre2_set_depth_limit(made.get(), kDepthLimit);
    pcre2_set_heap_limit(made.get(), kHeapLimitKib);
    return made;
  }();
  return context.get();
}

/// Length of a count that Python reads and PCRE2 takes for plain text, "{,n}" or "{,}", at `at`; else 0.
std::size_t open_count(std::string_view pattern, std::size_t at) {
  if (pattern.substr(at, 2) != "{,") return 0;
  const std::size_t end = pattern.find_first_not_of("0123456789", at + 2);
  return end != std::string_view::npos && pattern[end] == '}' ? end + 1 - at : 0;
}

/// The three places where both read the same text and mean something else: {,n} counts from 0, \Z is the very
/// end, and a '[' inside a set is a plain one (PCRE2 would read [:alpha:]).
std::string as_pcre2(std::string_view pattern) {
  std::string out;
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      out += c;
      out += !in_set && pattern[i + 1] == 'Z' ? 'z' : pattern[i + 1];
      ++i;
    } else if (in_set) {
      if (c == '[') out += '\\';
      out += c;
      in_set = c != ']';
    } else if (c == '[') {
      in_set = true;
      out += c;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];  // a first ']' is a member
    } else if (open_count(pattern, i) > 0) {
      out += "{0";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

struct Regex::Impl {
  std::unique_ptr<pcre2_code, CodeDeleter> code;
  std::unique_ptr<pcre2_match_data, DataDeleter> data;
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Regex::Compiled Regex::compile(std::string_view pattern, bool jit) {
  Compiled result;
  if (pattern.find_first_of("[{\\") != std::string_view::npos && pattern.size() <= kMaxPatternBytes) {
    const std::string translated = as_pcre2(pattern);
    // A mistake is reported against the text that was written: the translation is used when it compiles.
    if (translated != pattern) {
      result = compile_pcre2(translated, jit);
      if (result.ok()) return result;
    }
  }
  return compile_pcre2(pattern, jit);
}

Regex::Compiled Regex::compile_pcre2(std::string_view pattern, bool jit) {
  Compiled result;
  if (pattern.size() > kMaxPatternBytes) {
    result.error = "longer than " + std::to_string(kMaxPatternBytes) + " bytes";
    return result;
  }
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto impl = std::make_unique<Impl>();
  // NEVER_BACKSLASH_C: \C would read half a character. MATCH_INVALID_UTF: a kernel name may hold any bytes.
  impl->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_INVALID_UTF,
                                 &error, &offset, nullptr));
  if (!impl->code) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    result.error = reinterpret_cast<const char*>(message.data());
    result.offset = offset;
    return result;
  }
  if (jit) pcre2_jit_compile(impl->code.get(), PCRE2_JIT_COMPLETE);
  impl->data.reset(pcre2_match_data_create(1, nullptr));
  result.regex.push_back(Regex(std::move(impl)));
  return result;
}

Regex::Match Regex::search(std::string_view text) const {
  const int found = pcre2_match(impl_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
                                0, impl_->data.get(), limits());
  if (found >= 0) return Match::yes;
  return found == PCRE2_ERROR_NOMATCH ? Match::no : Match::limit;
}

std::vector<std::pair<std::size_t, std::size_t>> Regex::find_all(std::string_view text) const {
  std::vector<std::pair<std::size_t, std::size_t>> matches;
  std::size_t at = 0;
  while (at <= text.size()) {
    const int found = pcre2_match(impl_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  at, 0, impl_->data.get(), limits());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return {};
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(impl_->data.get());
    // \K in a lookahead can put the start after the end.
    if (ends[0] > ends[1]) return {};
    matches.emplace_back(ends[0], ends[1]);
    at = ends[1] > at ? ends[1] : at + 1;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return matches;
}

}  // namespace plumbline
