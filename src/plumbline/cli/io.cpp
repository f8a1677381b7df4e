// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/command.h"

namespace plumbline::cli {
namespace {

void write_all(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

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

void Io::print(std::string_view text) const { write_all(stdout, text); }

void Io::print_json(const Json& value) const { print(write_json(value)); }

void Io::message(std::string_view text) const {
  if (!quiet) write_all(stderr, std::string(text) + "\n");
}

void Io::report(const Diagnostics& diagnostics) const {
  std::fflush(stdout);
  Sources sources;
  for (const Diagnostic& d : diagnostics) {
    if (quiet && d.severity == Severity::note) continue;
    const std::string_view source = d.line > 0 ? sources.of(d.file) : std::string_view{};
    write_all(stderr, format_diagnostic(d, source, color_err) + "\n");
  }
}

}  // namespace plumbline::cli
