// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/diagnostics.h"

#include <algorithm>
#include <stdexcept>

#include "plumbline/base/codes.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::size_t kMaxSourceColumns = 160;

std::string_view line_of(std::string_view source, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = source.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string_view severity_color(Severity severity) {
  switch (severity) {
    case Severity::error:
    case Severity::finding:
      return "\x1b[1;31m";
    case Severity::warning:
      return "\x1b[1;33m";
    case Severity::note:
      return "\x1b[1;36m";
  }
  return "";
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::finding:
      return "finding";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

Diagnostic diagnose(std::string_view code, std::string message, Location at) {
  const CodeInfo* info = find_code(code);
  if (info == nullptr) throw std::logic_error("diagnostic code without an entry: " + std::string(code));
  return {info->severity, std::string(code), std::move(message), std::move(at.file), at.line, at.column};
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string format_diagnostic(const Diagnostic& d, std::string_view source, bool color) {
  std::string out = one_line(d.file);
  if (d.line > 0) out += (out.empty() ? "" : ":") + std::to_string(d.line);
  if (d.line > 0 && d.column > 0) out += ":" + std::to_string(d.column);
  if (!out.empty()) out += ": ";
  if (color) out += severity_color(d.severity);
  out.append(to_string(d.severity)).append(":");
  if (color) out += "\x1b[0m";
  out.append(" ").append(printable(d.message)).append(" [").append(d.code).append("]");
  const std::string_view line = d.line > 0 ? line_of(source, d.line) : std::string_view{};
  if (line.empty() || display_width(line) > kMaxSourceColumns) return out;
  out += "\n  " + printable(line);
  if (d.column > 0) {
    // Tabs are repeated in the padding so that the caret stands under its column whatever their width.
    std::string pad;
    int column = 1;
    for (std::size_t i = 0; i < line.size() && column < d.column; ++i) {
      if ((static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) continue;
      pad += line[i] == '\t' ? '\t' : ' ';
      ++column;
    }
    out += "\n  " + pad + (color ? "\x1b[1;32m^\x1b[0m" : "^");
  }
  return out;
}

}  // namespace plumbline
