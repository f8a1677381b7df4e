// SPDX-License-Identifier: Apache-2.0
// `plumbline completion SHELL` and `plumbline man`: both written from the command line's own description.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/cli/commands.h"

namespace plumbline::cli {
namespace {

void flatten(const CommandDoc& doc, std::vector<const CommandDoc*>& all) {
  all.push_back(&doc);
  for (const CommandDoc& sub : doc.subcommands) flatten(sub, all);
}

std::vector<const CommandDoc*> every_command(const CommandDoc& root) {
  std::vector<const CommandDoc*> all;
  flatten(root, all);
  return all;
}

/// What may follow a command: its subcommands and its options.
std::string words_after(const CommandDoc& doc) {
  std::string words;
  for (const CommandDoc& sub : doc.subcommands) words += sub.path.substr(sub.path.rfind(' ') + 1) + " ";
  for (const auto& option : doc.options) {
    for (const auto& flag : option.flags) words += flag + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

/// bash, and zsh through bashcompinit: the command path is matched, then its words or files are offered.
std::string bash_script(const CommandDoc& root, bool zsh) {
  std::string cases;
  for (const CommandDoc* doc : every_command(root)) {
    cases += fmt::format("    '{}') words='{}' ;;\n", doc->path, words_after(*doc));
  }
  return fmt::format(
      "{}_plumbline() {{\n  local path='' words='' word\n  for word in "
      "\"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case $word in -*) ;; *) path=\"${{path:+$path }}$word\" ;; esac\n  done\n"
      "  # a positional argument ends the command's name: cut words until a known command is left\n"
      "  while :; do\n    case $path in\n{}    *) [[ $path == *' '* ]] && {{ path=${{path% *}}; continue; "
      "}}; path=''; "
      "continue ;;\n    esac\n    break\n  done\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n}}\n"
      "complete -o filenames -F _plumbline plumbline\n",
      zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "", cases);
}

std::string quote_fish(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_script(const CommandDoc& root) {
  std::string out;
  for (const CommandDoc* doc : every_command(root)) {
    std::string condition;
    if (doc->path.empty()) {
      condition = "__fish_use_subcommand";
    } else {
      for (const char c : " " + doc->path)
        condition += c == ' ' ? "; and __fish_seen_subcommand_from " : std::string(1, c);
      condition = condition.substr(6);
    }
    for (const CommandDoc& sub : doc->subcommands) {
      out += fmt::format("complete -c plumbline -n '{}' -a {} -d {}\n", condition,
                         sub.path.substr(sub.path.rfind(' ') + 1), quote_fish(sub.help));
    }
    for (const auto& option : doc->options) {
      for (const auto& flag : option.flags) {
        if (!flag.starts_with("--")) continue;
        out += fmt::format("complete -c plumbline -n '{}' -l {}{} -d {}\n", condition, flag.substr(2),
                           option.value.empty() ? "" : " -r", quote_fish(option.help));
      }
    }
  }
  return out;
}

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += "\n.br\n";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

/// "--top TEXT", with what it may be.
std::string option_head(const CommandDoc::Option& option) {
  std::string out;
  for (const auto& flag : option.flags) out += (out.empty() ? "" : ", ") + flag;
  if (!option.value.empty()) out += (out.empty() ? "" : " ") + option.value;
  return out;
}

std::string man_page(const CommandDoc& root) {
  std::string out =
      ".TH PLUMBLINE 1 \"\" \"plumbline " PLUMBLINE_VERSION "\" \"User Commands\"\n.SH NAME\nplumbline \\- " +
      roff(root.help) + "\n.SH SYNOPSIS\n.B plumbline\n[\\fIoptions\\fR] \\fIcommand\\fR …\n.SH COMMANDS\n";
  for (const CommandDoc* doc : every_command(root)) {
    if (!doc->path.empty()) out += ".SS " + roff(doc->path) + "\n" + roff(doc->help) + "\n";
    for (const auto& option : doc->options) {
      const std::string head = option_head(option);
      if (head == "-h, --help" && !doc->path.empty()) continue;
      out += ".TP\n.B " + roff(head) + "\n" + roff(option.help) + "\n";
    }
    for (const std::string& status : doc->statuses)
      out += ".TP\n.B exit status " + roff(status.substr(0, status.find(' '))) + "\n" +
             roff(trim(status.substr(status.find(' ')))) + "\n";
    if (!doc->example.empty()) out += ".PP\n.nf\n" + roff(doc->example) + "\n.fi\n";
  }
  return out +
         ".SH EXIT STATUS\n0 fine; 1 a gate, a budget or a held report failed; 2 usage, unreadable or "
         "malformed input; "
         "13 the contract or the bench refuses the run.\n.SH ENVIRONMENT\nNO_COLOR switches colour off; "
         "COLUMNS is the width that tables fit.\n";
}

std::string markdown_cells(const std::string& first, const std::string& second) {
  return fmt::format("| `{}` | {} |\n", first, markdown_text(second));
}

/// Every command with its options and exit statuses: docs/cli.md.
std::string reference_page(const CommandDoc& root) {
  std::string out =
      "# The command line\n\nGenerated from the commands' own description by `plumbline man --md`; a test "
      "compares.\n\n"
      "Every command ends with 0 (fine) or 2 (a usage error, or input that cannot be read); what else it may "
      "end with is\nsaid below. On a terminal tables fit its width (or `COLUMNS`, where that is exported), "
      "colour is off with\n`NO_COLOR`, and what takes longer than two seconds shows its progress on standard "
      "error; elsewhere\nnothing is cut and nothing coloured.\n";
  for (const CommandDoc* doc : every_command(root)) {
    out += doc->path.empty() ? std::string("\n## Options of every command\n")
                             : fmt::format("\n## plumbline {}\n\n{}.\n", doc->path, markdown_text(doc->help));
    std::string options;
    for (const auto& option : doc->options) {
      if (option.flags == std::vector<std::string>{"-h", "--help"} && !doc->path.empty()) continue;
      std::string help = option.help;
      if (!option.choices.empty()) help += fmt::format(" ({})", fmt::join(option.choices, ", "));
      options += markdown_cells(option_head(option), help);
    }
    if (!options.empty()) out += "\n| option | |\n|---|---|\n" + options;
    for (const std::string& status : doc->statuses) {
      const std::size_t blank = status.find(' ');
      out += fmt::format("\nExit status {}: {}.\n", status.substr(0, blank),
                         markdown_text(std::string(trim(status.substr(blank)))));
    }
    if (!doc->example.empty()) out += fmt::format("\n```sh\n{}\n```\n", doc->example);
  }
  return out;
}

/// The same as data: what `man --json` prints.
Json reference_json(const CommandDoc& root) {
  Json commands = Json::array();
  for (const CommandDoc* doc : every_command(root)) {
    Json options = Json::array(), statuses = Json::object();
    for (const auto& option : doc->options) {
      options.push_back({{"flags", option.flags},
                         {"value", option.value},
                         {"help", option.help},
                         {"choices", option.choices}});
    }
    for (const std::string& status : doc->statuses) {
      const std::size_t blank = status.find(' ');
      statuses[status.substr(0, blank)] = trim(status.substr(blank));
    }
    commands.push_back({{"command", doc->path},
                        {"help", doc->help},
                        {"options", options},
                        {"statuses", statuses},
                        {"example", doc->example}});
  }
  return {{"version", PLUMBLINE_VERSION}, {"commands", commands}};
}

}  // namespace

void add_completion(Args& root) {
  auto shell = std::make_shared<std::string>();
  Args args = root.subcommand("completion", "a completion script for bash, zsh or fish");
  args.positional("SHELL", *shell, "bash, zsh or fish")
      .example("plumbline completion bash > ~/.local/share/bash-completion/completions/plumbline");
  args.run([shell](const Io& io) {
    const CommandDoc doc = describe(add_all_commands);
    if (*shell != "bash" && *shell != "zsh" && *shell != "fish") {
      io.report({diagnose(
          "usage", fmt::format("no completion for the shell '{}': bash, zsh and fish have one", *shell))});
      return static_cast<int>(kExitUsage);
    }
    const std::string script = *shell == "fish" ? fish_script(doc) : bash_script(doc, *shell == "zsh");
    if (io.json)
      io.print_json({{"shell", *shell}, {"script", script}});
    else
      io.print(script);
    return static_cast<int>(kExitOk);
  });
}

void add_man(Args& root) {
  auto md = std::make_shared<bool>(false);
  Args args = root.subcommand("man", "the manual page (roff)");
  args.flag("--md", *md, "as Markdown (docs/cli.md)").example("plumbline man | man -l -");
  args.run([md](const Io& io) {
    const CommandDoc doc = describe(add_all_commands);
    if (io.json)
      io.print_json(reference_json(doc));
    else
      io.print(*md ? reference_page(doc) : man_page(doc));
    return static_cast<int>(kExitOk);
  });
}

}  // namespace plumbline::cli
