// SPDX-License-Identifier: Apache-2.0
// What a subcommand sees of the command line and of the terminal. Only args.cpp knows CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {

/// Standard output and error of one invocation, with the global options applied.
struct Io {
  /// What was said so far: run_command_line() answers in its place where --json was asked and nothing was
  /// printed.
  struct Log {
    bool printed = false;  ///< something went to standard output
    Diagnostics diagnostics;
  };

  bool json = false;
  bool quiet = false;      ///< no progress, no notes
  bool color_out = false;  ///< --color, NO_COLOR and isatty already weighed
  bool color_err = false;
  bool progress = false;  ///< standard error is a terminal and --quiet is absent
  int width = 0;          ///< columns of the terminal or of COLUMNS; 0: neither
  std::shared_ptr<Log> log = std::make_shared<Log>();

  Look look() const { return {color_out, width}; }  ///< of a report on standard output

  void print(std::string_view text) const;  ///< to standard output, nothing in it that a terminal would obey
  void print_document(std::string_view text) const;  ///< the same, byte for byte: what was stored, or JSON
  void print_json(const Json& value) const;          ///< write_json to standard output
  void message(std::string_view text) const;         ///< a line to standard error, unless --quiet
  /// Diagnostics to standard error; on a terminal with the source line and a caret. At most 100 of a code are
  /// written, then how many more there are.
  void report(const Diagnostics& diagnostics) const;
};

/// Builder of one (sub)command's options. Targets outlive the parse: keep them in a shared struct that the
/// run callback captures.
class Args {
 public:
  Args& positional(std::string name, std::string& target, std::string help, bool required = true);
  Args& positionals(std::string name, std::vector<std::string>& target, std::string help,
                    bool required = true);
  Args& option(std::string flags, std::string& target, std::string help);
  Args& option(std::string flags, std::vector<std::string>& target, std::string help);  ///< repeatable
  Args& option(std::string flags, std::optional<double>& target, std::string help);
  Args& option(std::string flags, std::optional<std::int64_t>& target, std::string help);
  Args& choice(std::string flags, std::string& target, std::vector<std::string> choices, std::string help);
  Args& flag(std::string flags, bool& target, std::string help);
  /// When the command ends with that status, beside 0 and 2, which every command has. Shown by --help.
  Args& status(int code, const std::string& when);
  Args& example(std::string text);                      ///< shown at the end of --help
  Args& passthrough(std::vector<std::string>& target);  ///< everything after "--"
  Args subcommand(std::string name, std::string help);
  void run(std::function<int(const Io&)> action);

  struct Node;
  explicit Args(std::shared_ptr<Node> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<Node> node_;
};

/// What --help knows of one command: for completion scripts and the manual page.
struct CommandDoc {
  struct Option {
    std::vector<std::string> flags;  ///< "--gate"; a positional has none
    std::string value;               ///< the placeholder, "" for a flag
    std::string help;
    std::vector<std::string> choices;
  };
  std::string path;  ///< "window show"; "" for the tool itself
  std::string help;
  std::string example;
  std::vector<std::string> statuses;  ///< "1 the gate was not passed"
  std::vector<Option> options;
  std::vector<CommandDoc> subcommands;
};

/// The whole command line as data.
CommandDoc describe(const std::function<void(Args&)>& add_commands);

/// Parses argv and runs the chosen command. Returns the exit status.
int run_command_line(int argc, char** argv, const std::function<void(Args&)>& add_commands);

}  // namespace plumbline::cli
