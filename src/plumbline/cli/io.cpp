// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plumbline/base/code_counter.h"
#include "plumbline/base/files.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/command.h"

namespace plumbline::cli {
namespace {

void write_all(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

/// Text with whatever of a file's control characters a view has let through made visible; with `color` the
/// tool's own colours stay.
std::string for_terminal(std::string_view text, bool color) {
  std::string out;
  while (!text.empty()) {
    const std::size_t escape = color ? text.find("\x1b[") : std::string_view::npos;
    out += printable(text.substr(0, escape));
    if (escape == std::string_view::npos) break;
    const std::size_t end = text.find_first_not_of("0123456789;", escape + 2);
    const bool colors = end != std::string_view::npos && text[end] == 'm';
    const std::string_view part = text.substr(escape, colors ? end + 1 - escape : 2);
    out += colors ? std::string(part) : printable(part);
    text.remove_prefix(escape + part.size());
  }
  return out;
}

/// The text of each file a diagnostic points into, for the source line; "" when it cannot be read again.
class Sources {
 public:
  std::string_view of(const std::string& file) {
    const auto [it, fresh] = texts_.try_emplace(file);
    if (fresh && file != "-" && file != "<stdin>") it->second = read_file(file, 8 << 20).value.value_or("");
    return it->second;
  }

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace

void Io::print(std::string_view text) const { print_document(for_terminal(text, color_out)); }

void Io::print_document(std::string_view text) const {
  log->printed = log->printed || !text.empty();
  write_all(stdout, text);
}

void Io::print_json(const Json& value) const { print_document(write_json(value)); }

void Io::message(std::string_view text) const {
  if (!quiet) write_all(stderr, printable(text) + "\n");
}

void Io::report(const Diagnostics& diagnostics) const {
  std::fflush(stdout);
  log->diagnostics.insert(log->diagnostics.end(), diagnostics.begin(), diagnostics.end());
  Sources sources;
  CodeCounter counter;
  for (const Diagnostic& d : diagnostics) {
    if (quiet && d.severity == Severity::note) continue;
    if (!counter.shows(d)) continue;
    const std::string_view source = d.line > 0 ? sources.of(d.file) : std::string_view{};
    write_all(stderr, format_diagnostic(d, source, color_err) + "\n");
  }
  for (const CodeCounter::Rest& rest : counter.rest())
    write_all(stderr, fmt::format("{} [{}]\n", rest.diagnostic.message, rest.diagnostic.code));
}

}  // namespace plumbline::cli
