// SPDX-License-Identifier: Apache-2.0
// What a kernel is called, whichever profiler prints it.
#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

#include "plumbline/table/kernel_table.h"

namespace plumbline {
namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

bool starts_at(std::string_view text, std::size_t at, std::string_view what) {
  return text.substr(at, what.size()) == what;
}

/// The end of the operator's symbol when `at` stands behind the word "operator", else `at`.
std::size_t operator_end(std::string_view name, std::size_t at) {
  if (starts_at(name, at, " ()") || starts_at(name, at, " []")) return at + 3;  // ncu prints "operator ()"
  if (starts_at(name, at, "()") || starts_at(name, at, "[]")) return at + 2;
  constexpr std::string_view kSymbols = "<>=!+-*/%^&|~,";
  std::size_t end = at;
  while (end < name.size() && end - at < 3 && kSymbols.find(name[end]) != std::string_view::npos) {
    // "operator< <int>" and "operator<<int>": the second bracket opens template arguments unless it doubles.
    ++end;
  }
  return end;
}

bool is_operator_word(std::string_view name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!starts_at(name, at, kWord) || (at > 0 && word_char(name[at - 1]))) return false;
  return at + kWord.size() < name.size() && !word_char(name[at + kWord.size()]);
}

/// Walks a demangled name once. Brackets that damaged names leave ("unnamed>::f") close nothing.
struct NameParts {
  std::size_t begin = 0;  ///< of the last component
  std::size_t end = 0;    ///< behind it: before its template arguments and parameters
  bool open = false;      ///< a bracket never closes
};

NameParts parts_of(std::string_view name) {
  NameParts parts;
  std::string stack;
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;  // where the component's arguments begin
  std::size_t at = 0;
  const auto at_scope = [&](std::size_t i) { return starts_at(name, i, "::"); };
  while (at < name.size()) {
    const char c = name[at];
    if (stack.empty() && c == 'o' && is_operator_word(name, at)) {
      at = operator_end(name, at + 8);
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (stack.empty() && end == std::string_view::npos && at > begin) end = at;
      stack.push_back(c);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      const char opener = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
      if (!stack.empty() && stack.back() == opener) {
        stack.pop_back();
        // The parameter list ends the name, unless a scope or more template arguments follow.
        if (stack.empty() && c == ')' && !at_scope(at + 1) && at + 1 < name.size() && name[at + 1] != '(' &&
            !starts_at(name, at + 1, " const::") && end != std::string_view::npos) {
          break;
        }
      }
    } else if (stack.empty() && at_scope(at)) {
      begin = at + 2;
      end = std::string_view::npos;
      at += 2;
      continue;
    } else if (stack.empty() && c == ' ') {
      // "void f", "std::enable_if<…>::type f": what stood before was the return type. " const" and
      // " [clone …]" behind the name belong to nothing.
      const bool suffix = starts_at(name, at, " const") || starts_at(name, at, " [") ||
                          at + 1 == name.size() || starts_at(name, at, " (") || starts_at(name, at, " <");
      if (suffix && at > begin) {
        if (end == std::string_view::npos) end = at;
      } else {
        begin = at + 1;
        end = std::string_view::npos;
      }
    }
    ++at;
  }
  parts.begin = begin;
  parts.end = end == std::string_view::npos ? name.size() : end;
  parts.open = !stack.empty();
  return parts;
}

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
  const std::size_t dollar = out.rfind('$');
  if (dollar != std::string::npos && dollar > 0 && dollar + 1 < out.size() &&
      out.find_first_not_of("0123456789", dollar + 1) == std::string::npos) {
    out.resize(dollar);
  }
  return out;
}

/// The last source name of a mangled name that is not demangled, by its length prefixes alone.
std::string_view last_mangled_component(std::string_view name) {
  std::string_view last = name;
  std::size_t at = 2;
  if (at < name.size() && name[at] == 'N') ++at;
  while (at < name.size()) {
    if (std::isdigit(static_cast<unsigned char>(name[at])) == 0) break;
    std::size_t length = 0;
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0 && length < 100'000) {
      length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
    }
    if (length == 0 || at + length > name.size()) break;
    last = name.substr(at, length);
    at += length;
  }
  return last;
}

bool is_mangled(std::string_view name) { return name.size() > 3 && name.substr(0, 2) == "_Z"; }

}  // namespace

std::string demangled(std::string_view name) {
  if (!is_mangled(name)) return std::string(name);
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
  std::string plain = demangled(name);
  if (is_mangled(plain)) return without_addresses(last_mangled_component(plain));
  const NameParts parts = parts_of(plain);
  std::string identity =
      without_addresses(std::string_view(plain).substr(parts.begin, parts.end - parts.begin));
  while (!identity.empty() && identity.back() == ' ') identity.pop_back();
  return identity.empty() ? without_addresses(plain) : identity;
}

bool is_truncated_name(std::string_view name) {
  if (name.ends_with("...") || name.ends_with("…")) return true;
  return !is_mangled(name) && parts_of(name).open;
}

}  // namespace plumbline
