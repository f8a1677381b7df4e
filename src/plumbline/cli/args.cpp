// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/command.h"
#include "plumbline/report/verdict.h"

namespace plumbline::cli {

extern const char* const kRevision;  // generated: cmake/revision.cmake

namespace {
// What stands below the options of --help; describe() reads it back.
constexpr const char* kStatusTitle = "\nExit status, beside 0 and 2:";
constexpr const char* kExampleTitle = "Example:";
}  // namespace

struct Args::Node {
  CLI::App* app = nullptr;
  std::shared_ptr<std::function<int(const Io&)>> chosen;  // set by the command that was parsed
};

Args& Args::positional(std::string name, std::string& target, std::string help, bool required) {
  node_->app->add_option(std::move(name), target, std::move(help))->required(required)->type_name("");
  return *this;
}

Args& Args::positionals(std::string name, std::vector<std::string>& target, std::string help, bool required) {
  node_->app->add_option(std::move(name), target, std::move(help))->required(required)->type_name("");
  return *this;
}

Args& Args::option(std::string flags, std::string& target, std::string help) {
  node_->app->add_option(std::move(flags), target, std::move(help));
  return *this;
}

Args& Args::option(std::string flags, std::vector<std::string>& target, std::string help) {
  node_->app->add_option(std::move(flags), target, std::move(help))->allow_extra_args(false);
  return *this;
}

Args& Args::option(std::string flags, std::optional<double>& target, std::string help) {
  // "nan" compares false with every limit, so that a gate of it would let anything pass.
  const auto finite = [](const std::string& text) {
    const double value = std::strtod(text.c_str(), nullptr);
    return std::isfinite(value) ? std::string() : text + " is not a finite number";
  };
  node_->app->add_option(std::move(flags), target, std::move(help))->type_name("NUMBER")->check(finite);
  return *this;
}

Args& Args::option(std::string flags, std::optional<std::int64_t>& target, std::string help) {
  node_->app->add_option(std::move(flags), target, std::move(help))->type_name("INTEGER");
  return *this;
}

Args& Args::choice(std::string flags, std::string& target, std::vector<std::string> choices,
                   std::string help) {
  node_->app->add_option(std::move(flags), target, std::move(help))->check(CLI::IsMember(std::move(choices)));
  return *this;
}

Args& Args::flag(std::string flags, bool& target, std::string help) {
  node_->app->add_flag(std::move(flags), target, std::move(help));
  return *this;
}

Args& Args::status(int code, const std::string& when) {
  const std::string before = node_->app->get_footer();
  node_->app->footer(fmt::format("{}\n  {:<3} {}", before.empty() ? kStatusTitle : before, code, when));
  return *this;
}

Args& Args::example(std::string text) {
  const std::string before = node_->app->get_footer();
  const bool another = before.find(kExampleTitle) != before.npos;
  const std::string lead = before.empty() ? "\n" : before + "\n\n";
  node_->app->footer((another ? before : lead + kExampleTitle) + "\n  " + text);
  return *this;
}

Args& Args::passthrough(std::vector<std::string>& target) {
  node_->app->add_option("COMMAND", target, "the command and its arguments, after --")
      ->required()
      ->type_name("");
  node_->app->positionals_at_end();
  return *this;
}

Args Args::subcommand(std::string name, std::string help) {
  auto node = std::make_shared<Node>();
  node->app = node_->app->add_subcommand(std::move(name), std::move(help));
  node->app->fallthrough();  // global options may stand after the command too
  node->chosen = node_->chosen;
  // A command that only groups others asks for one of them; run() lifts that.
  node->app->require_subcommand(1);
  return Args(node);
}

void Args::run(std::function<int(const Io&)> action) {
  node_->app->require_subcommand(0);
  node_->app->callback([chosen = node_->chosen, action = std::move(action)] { *chosen = action; });
}

namespace {

constexpr std::size_t kMostReasons = 200;

/// Columns that a report has to fit: those of COLUMNS where it is exported, else the terminal's; 0 for none.
int terminal_width() {
  constexpr std::int64_t kLeast = 40, kMost = 1000;
  const char* columns = std::getenv("COLUMNS");
  if (const auto stated = columns == nullptr ? std::nullopt : parse_int(columns); stated && *stated > 0)
    return static_cast<int>(std::clamp(*stated, kLeast, kMost));
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return static_cast<int>(std::clamp<std::int64_t>(size.ws_col, kLeast, kMost));
  return 0;
}

bool wants_color(const std::string& mode, int descriptor) {
  if (mode == "always") return true;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return mode == "auto" && ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0') && !dumb;
}

/// What `argv` has that no command or option is called, with the nearest name that there is; "" when all is
/// known (then CLI11's own message says more).
std::string unknown_word(const CLI::App& root, int argc, char** argv) {
  const CLI::App* app = &root;
  std::vector<const CLI::App*> chain{app};
  const auto option_of = [&](const std::string& flag) -> const CLI::Option* {
    for (const CLI::App* each : chain) {
      if (const CLI::Option* option = each->get_option_no_throw(flag)) return option;
    }
    return nullptr;
  };
  const auto answer = [](std::string_view what, const std::string& word,
                         const std::vector<std::string>& known) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::optional<std::string> near = nearest_name(word, names);
    return fmt::format("{} {}{}", in_quotes(word), what,
                       near ? fmt::format("; did you mean {}?", *near) : "");
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return {};
    if (word.size() > 1 && word[0] == '-') {
      const std::string flag = word.substr(0, word.find('='));
      const CLI::Option* option = option_of(flag);
      if (option == nullptr && word[1] != '-') option = option_of(word.substr(0, 2));
      if (option == nullptr) {
        std::vector<std::string> known;
        for (const CLI::App* each : chain) {
          for (const CLI::Option* one : each->get_options()) {
            for (const std::string& name : one->get_lnames()) known.push_back("--" + name);
          }
        }
        return answer(app == &root ? "is not an option" : "is not an option of " + app->get_name(), flag,
                      known);
      }
      if (option->get_items_expected_max() > 0 && word.find('=') == std::string::npos &&
          (word[1] == '-' || word.size() == 2)) {
        ++i;  // its value
      }
      continue;
    }
    const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) continue;  // a positional
    const auto chosen = std::find_if(commands.begin(), commands.end(),
                                     [&](const CLI::App* each) { return each->get_name() == word; });
    if (chosen != commands.end()) {
      app = *chosen;
      chain.push_back(app);
      continue;
    }
    std::vector<std::string> known;
    for (const CLI::App* each : commands) known.push_back(each->get_name());
    return answer(app == &root ? "is not a command" : "is not a command of " + app->get_name(), word, known);
  }
  return {};
}

/// CLI11 closes over its own exit codes; ours are fixed. Help goes to standard output, mistakes to standard
/// error.
int report_parse_result(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv,
                        const Io& io) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(error, text, text);
    io.print(text.str());
    return kExitOk;
  }
  const std::string unknown = unknown_word(app, argc, argv);
  io.report({diagnose("usage", (unknown.empty() ? error.what() : unknown) + "; --help shows the options")});
  return kExitUsage;
}

/// Runs the command; what nothing below expected becomes a diagnostic, never an abort.
int run_chosen(const std::function<int(const Io&)>& command, const Io& io) {
  try {
    return command(io);
  } catch (const std::bad_alloc&) {
    io.report({diagnose("out-of-memory", "this machine has no memory left for the command")});
  } catch (const std::system_error& error) {
    io.report({diagnose("out-of-resources", error.what())});
  } catch (const std::exception& error) {
    io.report({diagnose("internal-error", error.what())});
  }
  return kExitUsage;
}

/// The document that --json owes where a command ended before it wrote its own: its first reasons, and how
/// many there are.
Json verdict_document(int status, const Diagnostics& messages) {
  const char* verdict = status == kExitOk        ? "fine"
                        : status == kExitUsage   ? "unreadable"
                        : status == kExitRefused ? "refused"
                                                 : "failed";
  const auto most = static_cast<std::ptrdiff_t>(std::min(messages.size(), kMostReasons));
  Json document =
      verdict_json(status == kExitOk, verdict, {messages.begin(), messages.begin() + most}, nullptr);
  document["reasons_total"] = messages.size();
  return document;
}

/// --json, wherever it stands: where the command line itself is wrong, CLI11 has not read it yet.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

/// The last word of every invocation: the document that --json owes, and whether all of it could be written.
int finish(int status, const Io& io) {
  if (io.json && !io.log->printed && status != kExitOk) {
    io.print_json(verdict_document(status, io.log->diagnostics));
  }
  // A full disk or a closed pipe must not pass for success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    io.report({diagnose("file-unwritable", "standard output could not be written")});
    return kExitUsage;
  }
  return status;
}

CommandDoc describe_app(const CLI::App& app, const std::string& path) {
  CommandDoc doc{path, app.get_description(), {}, {}, {}, {}};
  const std::string footer = app.get_footer();
  const std::size_t example = std::min(footer.find(kExampleTitle), footer.size());
  if (example < footer.size())
    doc.example = std::string(trim(footer.substr(example + std::strlen(kExampleTitle))));
  if (footer.starts_with(kStatusTitle)) {
    const std::string_view list =
        std::string_view(footer).substr(0, example).substr(std::strlen(kStatusTitle));
    for (const auto line : split_any(list, "\n", false)) {
      if (const auto text = trim(line); !text.empty()) doc.statuses.emplace_back(text);
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    CommandDoc::Option entry;
    for (const auto& name : option->get_snames()) entry.flags.push_back("-" + name);
    for (const auto& name : option->get_lnames()) entry.flags.push_back("--" + name);
    if (entry.flags.empty() || option->get_items_expected_max() > 0) {
      entry.value = entry.flags.empty() ? option->get_name() : option->get_type_name();
    }
    if (const std::size_t open = entry.value.find('{'); open != std::string::npos) {  // TEXT:{a,b}
      const std::string list = entry.value.substr(open + 1, entry.value.find('}') - open - 1);
      for (const auto piece : split_any(list, ",", false)) entry.choices.emplace_back(piece);
      entry.value = entry.value.substr(0, entry.value.find(':'));
    }
    entry.help = option->get_description();
    doc.options.push_back(std::move(entry));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    doc.subcommands.push_back(
        describe_app(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name()));
  }
  return doc;
}

/// Global options; their values land in `io` and `color`.
void add_globals(CLI::App& app, Io& io, std::string& color) {
  app.set_version_flag("--version", std::string("plumbline " PLUMBLINE_VERSION) + kRevision);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.add_flag("--json", io.json, "one JSON document on standard output, nothing else there");
  app.add_option("--color", color, "auto (a terminal without NO_COLOR), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--quiet", io.quiet, "no progress and no notes");
}

constexpr const char* kTagline =
    "Plumbline tells the truth about GPU kernel times, and chooses model shapes by it.";

}  // namespace

CommandDoc describe(const std::function<void(Args&)>& add_commands) {
  CLI::App app(kTagline, "plumbline");
  Io io;
  std::string color;
  add_globals(app, io, color);
  auto node = std::make_shared<Args::Node>();
  node->app = &app;
  node->chosen = std::make_shared<std::function<int(const Io&)>>();
  Args root(node);
  add_commands(root);
  return describe_app(app, "");
}

int run_command_line(int argc, char** argv, const std::function<void(Args&)>& add_commands) {
  // A file over the limit of the shell is then an error of the write, and what was begun is taken back.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app(kTagline, "plumbline");
  Io io;
  std::string color = "auto";
  add_globals(app, io, color);

  auto node = std::make_shared<Args::Node>();
  node->app = &app;
  node->chosen = std::make_shared<std::function<int(const Io&)>>();
  Args root(node);
  add_commands(root);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    io.json = asks_for_json(argc, argv);
    return finish(report_parse_result(app, error, argc, argv, io), io);
  }
  io.color_out = wants_color(color, STDOUT_FILENO);
  io.color_err = wants_color(color, STDERR_FILENO);
  io.progress = !io.quiet && ::isatty(STDERR_FILENO) == 1;
  io.width = terminal_width();
  return finish(run_chosen(*node->chosen, io), io);
}

}  // namespace plumbline::cli
