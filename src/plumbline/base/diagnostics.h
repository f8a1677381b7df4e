// SPDX-License-Identifier: Apache-2.0
// Diagnostics as values: what is wrong, where, and under which stable code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// How much a diagnostic weighs. `error`: the input is malformed or unreadable (exit 2). `finding`: the
/// contract or the bench refuses the run (exit 13). `warning` and `note` never change an exit status.
enum class Severity { error, finding, warning, note };

/// "error", "finding", "warning" or "note".
std::string_view to_string(Severity severity);

/// A place in a text file. Lines and columns count from 1, columns in code points; 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One thing that is wrong. `code` is a slug of the table in codes.h and never changes its meaning.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;
  std::string message;
  std::string file;
  int line = 0;
  int column = 0;
};

/// How many diagnostics of one code are written out; behind them stands how many more there are.
inline constexpr std::size_t kMostOfACode = 100;

using Diagnostics = std::vector<Diagnostic>;

/// A diagnostic with the severity that the table of codes gives `code`.
/// A slug that is not in the table is a defect of the program: std::logic_error.
Diagnostic diagnose(std::string_view code, std::string message, Location at = {});

/// True when any diagnostic is an error.
bool has_errors(const Diagnostics& diagnostics);

/// What a parser returns: a value, or none and at least one error; warnings may accompany either.
template <class T>
struct Parsed {
  std::optional<T> value;
  Diagnostics diagnostics;

  bool ok() const { return value.has_value(); }  ///< a value was made
};

/// A failed parse with one diagnostic.
template <class T>
Parsed<T> failed(Diagnostic diagnostic) {
  Parsed<T> result;
  result.diagnostics.push_back(std::move(diagnostic));
  return result;
}

/// `window.toml:12:3: error: … [missing-dtype]`. With `source` (the file's text) the line and a caret follow.
std::string format_diagnostic(const Diagnostic& diagnostic, std::string_view source = {}, bool color = false);

/// The process exit statuses; the same everywhere.
enum ExitStatus : int { kExitOk = 0, kExitGate = 1, kExitUsage = 2, kExitRefused = 13 };

}  // namespace plumbline
