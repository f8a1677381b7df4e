// SPDX-License-Identifier: Apache-2.0
// What a kernel is called, whichever profiler prints it.
#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "plumbline/table/cpp_name.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Removes what differs from run to run: "0x7f12ab34cd00" with the joint before it, and Numba's "$241".
std::string without_addresses(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '0' && at + 1 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X')) {
      std::size_t end = at + 2;
      while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      if (end - at >= 6) {  // four digits or more: an address, not a small constant
        while (!out.empty() && (out.back() == '_' || out.back() == '@' || out.back() == ' ')) out.pop_back();
        at = end;
        continue;
      }
    }
    out.push_back(text[at++]);
  }
  const std::size_t dollar = out.find('$');  // "main$_omp_fn$0" has two, and its number counts
  if (dollar != std::string::npos && dollar > 0 && dollar + 1 < out.size() &&
      out.find_first_not_of("0123456789", dollar + 1) == std::string::npos) {
    out.resize(dollar);
  }
  return out;
}

/// "__omp_offloading_10303_1d4a6b8_main_l42" names the device and the inode of the source file, which differ
/// from one machine to the next: "__omp_offloading_main_l42".
std::string without_file_ids(std::string_view text) {
  constexpr std::string_view kOpenMp = "__omp_offloading_";
  if (!text.starts_with(kOpenMp)) return std::string(text);
  std::string_view rest = text.substr(kOpenMp.size());
  for (int part = 0; part < 2; ++part) {
    const std::size_t end = rest.find_first_not_of("0123456789abcdef");
    if (end == 0 || end == std::string_view::npos || rest[end] != '_') return std::string(text);
    rest.remove_prefix(end + 1);
  }
  return std::string(kOpenMp) + std::string(rest);
}

/// AMD's loaders append ".kd" (the kernel descriptor's symbol) to a kernel's name.
std::string_view without_descriptor(std::string_view name) {
  return name.ends_with(".kd") && name.size() > 3 ? name.substr(0, name.size() - 3) : name;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// A length prefix and the source name behind it; `text` moves behind both.
struct SourceName {
  std::string_view name;  ///< as much of it as there is
  bool cut = false;       ///< it is longer than the text: the profiler cut it
};
SourceName take_source_name(std::string_view& text) {
  std::size_t length = 0;
  while (!text.empty() && is_digit(text.front()) && length < 100'000) {
    length = length * 10 + static_cast<std::size_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  const SourceName out{text.substr(0, length), length > text.size()};
  text.remove_prefix(std::min(length, text.size()));
  return out;
}

/// What the length prefixes of a mangled name tell: for one that is not demangled.
struct MangledName {
  std::string_view last;  ///< the last source name of the leading nested name
  bool cut = false;       ///< a source name is longer than the text
};

MangledName read_mangled(std::string_view name) {
  MangledName out{name, false};
  std::string_view rest = name.substr(2);
  const bool nested = rest.starts_with('N');
  if (nested || rest.starts_with('L')) rest.remove_prefix(1);                    // "L": of one file alone
  while (rest.starts_with('K') || rest.starts_with('V')) rest.remove_prefix(1);  // of a member function
  if (rest.starts_with("St")) rest.remove_prefix(2);
  while (!rest.empty() && is_digit(rest.front())) {
    const SourceName part = take_source_name(rest);
    if (part.name.empty() && !part.cut) break;
    out = {part.name.empty() ? out.last : part.name, part.cut};
    if (!nested) break;
  }
  // The last source name of the arguments may be the one that was cut: "…ENS0_15CUDAFunctor_addIfEESt5arr".
  // Literals ("Li128E") and numbers of references and lambdas ("S1_", "E0_") are not lengths, and a name with
  // a suffix (".intern.8f6de1e0") is whole.
  if (name.find('.') != kNone) return out;
  for (std::size_t at = name.size() - rest.size(); !out.cut && at < name.size();) {
    const bool literal = name[at - 2] == 'L';
    if (!is_digit(name[at]) || is_digit(name[at - 1]) || literal || name[at - 1] == 'S' ||
        name[at - 1] == 'T') {
      ++at;
      continue;
    }
    std::string_view text = name.substr(at);
    const SourceName part = take_source_name(text);
    if (part.name.starts_with('_')) {
      ++at;
      continue;
    }
    out.cut = part.cut;
    at = name.size() - text.size();
  }
  return out;
}

bool is_mangled(std::string_view name) { return name.size() > 3 && name.substr(0, 2) == "_Z"; }

}  // namespace

std::string demangled(std::string_view name) {
  if (!is_mangled(name)) return std::string(name);
  name = without_descriptor(name);
  // Each reference to an earlier part can repeat it: k references give at most about 3^(k/3) copies, so a
  // bound on k and on the length bounds the memory (24 references and 4 KiB: under 30 MB, in practice KB).
  std::size_t references = 0;
  for (std::size_t i = 2; i + 1 < name.size(); ++i) {
    const bool reference = name[i] == 'S' || name[i] == 'T';
    const char next = name[i + 1];
    if (reference && (next == '_' || std::isdigit(static_cast<unsigned char>(next)) != 0 ||
                      std::isupper(static_cast<unsigned char>(next)) != 0)) {
      ++references;
    }
  }
  if (references > 24 || name.size() > 4096) return std::string(name);
  int status = 0;
  const std::string terminated(name);
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : terminated;
}

std::string kernel_identity(std::string_view name) {
  const std::string text = demangled(without_descriptor(name));
  if (is_mangled(text)) return without_addresses(read_mangled(text).last);
  const CppName parts = read_cpp_name(text);
  std::string_view base =
      std::string_view(text).substr(parts.base.first, parts.base.second - parts.base.first);
  while (base.ends_with(' ')) base.remove_suffix(1);
  std::string identity = without_file_ids(without_addresses(base));
  return identity.empty() ? without_addresses(text) : identity;
}

bool is_truncated_name(std::string_view name) {
  if (name.ends_with("...") || name.ends_with("…")) return true;
  const std::string text = demangled(name);
  return is_mangled(text) ? read_mangled(text).cut : read_cpp_name(text).open;
}

}  // namespace plumbline
