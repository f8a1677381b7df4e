// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "plumbline/base/text.h"
#include "plumbline/cli/command.h"

namespace plumbline::cli {

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
  node_->app->add_option(std::move(flags), target, std::move(help))->type_name("NUMBER");
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

Args& Args::example(std::string text) {
  node_->app->footer("\nExample:\n  " + text);
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

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

bool wants_color(const std::string& mode, int descriptor) {
  if (mode == "always") return true;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return mode == "auto" && ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0') && !dumb;
}

/// CLI11 closes over its own exit codes; ours are fixed. Help goes to standard output, mistakes to standard
/// error.
int report_parse_result(const CLI::App& app, const CLI::ParseError& error, const Io& io) {
  if (error.get_exit_code() == 0) {
    app.exit(error, std::cout, std::cerr);
    std::cout.flush();
    return kExitOk;
  }
  io.report({diagnose("usage", std::string(error.what()) + "; --help shows the options")});
  return kExitUsage;
}

CommandDoc describe_app(const CLI::App& app, const std::string& path) {
  CommandDoc doc{path, app.get_description(), {}, {}, {}};
  if (const std::string footer = app.get_footer(); footer.find("Example:") != std::string::npos) {
    doc.example = std::string(trim(footer.substr(footer.find("Example:") + 8)));
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
  app.set_version_flag("--version", "plumbline " PLUMBLINE_VERSION);
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
    return report_parse_result(app, error, io);
  }
  io.color_out = wants_color(color, STDOUT_FILENO);
  io.color_err = wants_color(color, STDERR_FILENO);
  io.progress = !io.quiet && ::isatty(STDERR_FILENO) == 1;
  io.width = terminal_width();
  const int status = (*node->chosen)(io);
  // A full disk or a closed pipe must not pass for success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    io.report({diagnose("file-unwritable", "standard output could not be written")});
    return kExitUsage;
  }
  return status;
}

}  // namespace plumbline::cli
