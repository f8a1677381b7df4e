// SPDX-License-Identifier: Apache-2.0
// What the profiler's launch script and the command lines that run it do beyond the rules that refuse.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "plumbline/base/files.h"
#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShellBytes = 1 << 20;
constexpr std::size_t kMostShellFiles = 64;
constexpr std::size_t kMostCompared = 200;

/// The places in a launch script that the rules speak of.
struct Script {
  const SyntaxTree& tree;
  const SyntaxNode* start = nullptr;  ///< the first profiler start, by line and column
  const SyntaxNode* stop = nullptr;
  std::vector<const SyntaxNode*> prep;   ///< prep calls
  std::vector<const SyntaxNode*> calls;  ///< every call, in the order of the text
};

bool is_profiler_call(const SyntaxTree& tree, const SyntaxNode& call, std::string_view method) {
  if (callee_name(tree, call) != method) return false;
  const std::string path = dotted_path(tree, *tree.child(call, Role::func));
  return path.ends_with(std::string("profiler.") += method) ||
         path.ends_with(method == "start" ? "cudaProfilerStart" : "cudaProfilerStop");
}

Script survey(const SyntaxTree& tree, const std::optional<std::string>& prep) {
  Script script{tree, nullptr, nullptr, {}, {}};
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::call) script.calls.push_back(&node);
  }
  std::sort(script.calls.begin(), script.calls.end(),
            [](const SyntaxNode* a, const SyntaxNode* b) { return a->begin < b->begin; });
  for (const SyntaxNode* call : script.calls) {
    if (script.start == nullptr && is_profiler_call(tree, *call, "start")) script.start = call;
    if (is_profiler_call(tree, *call, "stop")) script.stop = call;
    if (prep && callee_name(tree, *call) == *prep) script.prep.push_back(call);
  }
  return script;
}

/// The innermost def or the module: calls in different ones run in an order that the text does not tell.
SyntaxTree::Index scope_of(const SyntaxTree& tree, const SyntaxNode& node) {
  const SyntaxNode* at = &node;
  while (at->kind != NodeKind::module && !is_function(*at) && at->kind != NodeKind::lambda)
    at = &tree.parent(*at);
  return tree.index(*at);
}

void check_synchronize(const Script& script, Findings& out) {
  const SyntaxNode* last = nullptr;
  for (const SyntaxNode* prep : script.prep) {
    if (prep->begin < script.start->begin) last = prep;
  }
  if (last == nullptr || scope_of(script.tree, *last) != scope_of(script.tree, *script.start)) return;
  const bool waits = std::any_of(script.calls.begin(), script.calls.end(), [&](const SyntaxNode* call) {
    const std::string_view name = callee_name(script.tree, *call);
    return call->begin > last->begin && call->begin < script.start->begin &&
           (name == "synchronize" || name == "item");
  });
  if (!waits) {
    out.push_back(finding_at(script.tree, *script.start, "ncu-no-synchronize",
                             "nothing waits for prep's launches before the profiler starts"));
  }
}

void check_loop(const Script& script, Findings& out) {
  for (const SyntaxNode* node = script.start; node->kind != NodeKind::module;
       node = &script.tree.parent(*node)) {
    if (is_function(*node)) return;
    if (node->kind == NodeKind::for_stmt || node->kind == NodeKind::while_stmt ||
        node->kind == NodeKind::async_for || node->kind == NodeKind::comprehension) {
      out.push_back(finding_at(script.tree, *script.start, "ncu-start-in-loop",
                               "the profiler is started inside a loop: the region restarts on every turn"));
      return;
    }
  }
}

/// Calls that are not work to warm up.
bool is_bookkeeping(const std::string& path) {
  for (const std::string_view ending :
       {"synchronize", "start", "stop", "print", "range", "nvtx.range_push", "nvtx.range_pop", "record_calls",
        "range_push", "range_pop", "list", "len", ".update"}) {
    if (path.ends_with(ending)) return true;
  }
  return path.empty();
}

/// A loop or a keyword that says zero: range(0), warmup=0, WARMUP = 0.
const SyntaxNode* zero_warmup(const SyntaxTree& tree) {
  for (const SyntaxNode& node : tree.nodes()) {
    if (literal_int(tree, node) != 0) continue;
    const SyntaxNode& parent = tree.parent(node);
    std::string name;
    if (parent.kind == NodeKind::keyword) name = tree.name(parent);
    if (parent.kind == NodeKind::assign && tree.children(parent)[0].kind == NodeKind::name) {
      name = tree.name(tree.children(parent)[0]);
    }
    name = to_lower(name);
    if (name.find("warmup") != std::string::npos || name.find("warm_up") != std::string::npos) return &node;
  }
  return nullptr;
}

void check_warmup(const Script& script, const std::optional<std::string>& prep, Findings& out) {
  const SyntaxTree& tree = script.tree;
  if (const SyntaxNode* zero = zero_warmup(tree)) {
    out.push_back(finding_at(tree, *zero, "ncu-no-warmup", "no warm-up call runs before the profiled one"));
    return;
  }
  std::set<std::string> before;
  std::vector<const SyntaxNode*> inside;
  const auto scope = scope_of(tree, *script.start);
  for (const SyntaxNode* call : script.calls) {
    const std::string path = dotted_path(tree, *tree.child(*call, Role::func));
    if (is_bookkeeping(path) || path == prep) continue;
    if (call->begin < script.start->begin) {
      before.insert(path);
    } else if ((script.stop == nullptr || call->begin < script.stop->begin) &&
               scope_of(tree, *call) == scope) {
      inside.push_back(call);
    }
  }
  const bool warmed = std::any_of(inside.begin(), inside.end(), [&](const SyntaxNode* call) {
    return before.contains(dotted_path(tree, *tree.child(*call, Role::func)));
  });
  if (!inside.empty() && !warmed) {
    out.push_back(
        finding_at(tree, *inside.front(), "ncu-no-warmup",
                   fmt::format("'{}' is profiled on its first call: compilation and first-touch costs are in "
                               "the table",
                               dotted_path(tree, *tree.child(*inside.front(), Role::func)))));
  }
}

// ---- prep's arguments -----------------------------------------------------------------------------

/// Do two arguments say the same, as far as literals tell? Anything else may be the same.
bool may_be_equal(const SyntaxTree& a_tree, const SyntaxNode& a, const SyntaxTree& b_tree,
                  const SyntaxNode& b) {
  if (a.kind != NodeKind::constant || b.kind != NodeKind::constant) return true;
  return a_tree.text(a) == b_tree.text(b);
}

bool may_be_same_call(const SyntaxTree& a_tree, const SyntaxNode& a, const SyntaxTree& b_tree,
                      const SyntaxNode& b) {
  for (std::size_t i = 0;; ++i) {
    const SyntaxNode* left = positional(a_tree, a, i);
    const SyntaxNode* right = positional(b_tree, b, i);
    if (left == nullptr || right == nullptr) break;
    if (!may_be_equal(a_tree, *left, b_tree, *right)) return false;
  }
  for (const SyntaxNode& argument : a_tree.children(a)) {
    if (argument.role != Role::keyword || argument.name == 0 || to_lower(a_tree.name(argument)) == "seed")
      continue;
    const SyntaxNode* other = keyword_value(b_tree, b, a_tree.name(argument));
    if (other != nullptr && !may_be_equal(a_tree, *a_tree.child(argument, Role::value), b_tree, *other))
      return false;
  }
  return true;
}

/// A call of a function that the script shares with the bench, whose literals fit no call in the bench.
void compare_call(const SyntaxTree& script, const SyntaxNode& call, const SyntaxTree& bench,
                  std::string_view name, Findings& out) {
  bool any = false;
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind != NodeKind::call || callee_name(bench, node) != name) continue;
    any = true;
    if (may_be_same_call(script, call, bench, node)) return;
  }
  if (any) {
    out.push_back(finding_at(script, call, "ncu-prep-arguments",
                             fmt::format("no call of '{}' in the bench has these arguments", name),
                             std::string(name)));
  }
}

/// Positional parameters of a def: how many must and how many can be given.
std::pair<std::size_t, std::size_t> arity(const SyntaxTree& tree, const SyntaxNode& def) {
  const SyntaxNode* arguments = tree.child(def, Role::args);
  const std::string_view text = tree.text(*arguments);
  std::size_t names = 0;
  std::size_t defaults = 0;
  for (const SyntaxNode& child : tree.children(*arguments))
    (child.kind == NodeKind::arg ? names : defaults) += 1;
  if (text.find('*') != std::string_view::npos || text.find('/') != std::string_view::npos)
    return {0, SIZE_MAX};
  return {names - std::min(names, defaults), names};
}

void check_prep_arguments(const Script& script, const SyntaxTree& bench, std::string_view prep,
                          Findings& out) {
  const SyntaxTree& tree = script.tree;
  const SyntaxNode* def = module_function(bench, prep);
  for (const SyntaxNode* call : script.prep) {
    compare_call(tree, *call, bench, prep, out);
    std::size_t given = 0;
    bool unpacked = false;
    for (const SyntaxNode& argument : tree.children(*call)) {
      if (argument.role == Role::func) continue;
      ++given;
      unpacked = unpacked || argument.kind == NodeKind::starred ||
                 (argument.role == Role::keyword && argument.name == 0);
    }
    if (def == nullptr || unpacked) continue;
    const auto [least, most] = arity(bench, *def);
    if (given < least || given > most) {
      out.push_back(finding_at(tree, *call, "ncu-prep-arguments",
                               fmt::format("prep '{}' takes {} argument{} in the bench, {} here", prep, least,
                                           least == 1 ? "" : "s", given),
                               std::string(prep)));
    }
  }
  // What prep is fed with: functions of the bench that the script imports.
  std::size_t compared = 0;
  for (const SyntaxNode* call : script.calls) {
    const SyntaxNode* func = tree.child(*call, Role::func);
    if (func->kind != NodeKind::name || tree.name(*func) == prep || compared == kMostCompared) continue;
    if (module_function(bench, tree.name(*func)) != nullptr &&
        module_function(tree, tree.name(*func)) == nullptr) {
      compare_call(tree, *call, bench, tree.name(*func), out);
      ++compared;
    }
  }
}

// ---- command lines --------------------------------------------------------------------------------

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The words of a command line; quotes are taken off.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (c == '"' || c == '\'' || c == '`') continue;
    if (!is_space(c) && c != '\n' && c != '\\') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

/// Is it a command that runs ncu? Where its options begin, or none.
std::optional<std::size_t> ncu_at(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string_view name = std::string_view(word).substr(word.find_last_of('/') + 1);
    if ((name == "ncu" || name == "nv-nsight-cu-cli") && i + 1 < words.size() &&
        words[i + 1].starts_with("-"))
      return i;
  }
  return std::nullopt;
}

/// The value of an option spelled "--name value", "--name=value" or "-n value".
std::optional<std::string> option_value(const std::vector<std::string>& words, std::size_t from,
                                        std::string_view name, std::string_view brief) {
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == name || (!brief.empty() && word == brief)) return i + 1 < words.size() ? words[i + 1] : "";
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
      return word.substr(name.size() + 1);
    // What follows the program belongs to it.
    if (i > from && word.ends_with(".py")) break;
    if (word.starts_with("python")) break;
  }
  return std::nullopt;
}

/// Lines of `text` that run ncu, continuation lines joined. `comment` is taken off the front of each.
void collect_commands(std::string_view text, std::vector<std::string>& commands) {
  std::string joined;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.starts_with("#") || line.starts_with("$ ")) line = trim(line.substr(1));
    const bool more = line.ends_with("\\");
    if (more) line.remove_suffix(1);
    joined.append(line).append(" ");
    if (more) continue;
    if (ncu_at(words_of(joined))) commands.push_back(joined);
    joined.clear();
  }
}

/// The comments and the docstring of a script.
std::string header_text(const SyntaxTree& script) {
  std::string text;
  const auto body = script.children(script[0]);
  if (!body.empty() && body[0].kind == NodeKind::expr_stmt && body[0].child_count == 1) {
    if (const auto doc = script.children(body[0])[0]; doc.kind == NodeKind::constant)
      text += script.text(doc);
    text += "\n";
  }
  std::string_view source = script.source();
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = trim(source.substr(0, end));
    if (line.starts_with("#")) text.append(line).append("\n");
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return text;
}

void check_command(const SyntaxTree& script, const std::string& command, bool starts, Findings& out) {
  const std::vector<std::string> words = words_of(command);
  const std::size_t from = ncu_at(words).value_or(0);
  const auto skip = option_value(words, from, "--launch-skip", "-s");
  const auto count = option_value(words, from, "--launch-count", "-c");
  const auto report = [&](std::string_view code, std::string message) {
    out.push_back(finding_at(script, script[0], code, std::move(message)));
  };
  if ((skip && *skip != "0") || count) {
    report("ncu-launch-cut", fmt::format("ncu is run with {}: a call can be cut in the middle",
                                         count ? "--launch-count " + *count : "--launch-skip " + *skip));
  }
  const auto profile = option_value(words, from, "--profile-from-start", "");
  const bool off =
      profile && (*profile == "off" || *profile == "no" || *profile == "false" || *profile == "0");
  if (starts && !off) {
    report("ncu-from-start",
           "ncu is run without --profile-from-start off: what runs before the start is in the table");
  }
}

}  // namespace

std::vector<std::string> wrapper_commands(const std::string& script_path) {
  std::vector<std::string> commands;
  const fs::path script(script_path);
  const std::string name = script.filename().string();
  std::vector<fs::path> shells;
  std::error_code error;
  for (const fs::path& folder : {script.parent_path(), script.parent_path() / ".."}) {
    for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".sh" && shells.size() < kMostShellFiles) shells.push_back(it->path());
    }
  }
  std::sort(shells.begin(), shells.end());
  for (const fs::path& shell : shells) {
    const Parsed<std::string> text = read_file(shell.string(), kMostShellBytes);
    if (text.ok() && text.value->find(name) != std::string::npos) collect_commands(*text.value, commands);
  }
  return commands;
}

Findings script_warnings(const SyntaxTree& tree, const SyntaxTree* bench,
                         const std::optional<std::string>& prep, const std::vector<std::string>& commands) {
  if (Findings large = too_long(tree); !large.empty()) return large;
  if (bench != nullptr && !too_long(*bench).empty()) bench = nullptr;
  const Script script = survey(tree, prep);
  Findings out;
  if (script.start != nullptr) {
    check_synchronize(script, out);
    if (script.stop == nullptr) {
      out.push_back(
          finding_at(tree, *script.start, "ncu-no-stop", "the profiler is started and never stopped"));
    }
    check_loop(script, out);
    check_warmup(script, prep, out);
  }
  if (bench != nullptr && prep) check_prep_arguments(script, *bench, *prep, out);
  std::vector<std::string> all = commands;
  collect_commands(header_text(tree), all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::string& command : all) check_command(tree, command, script.start != nullptr, out);
  return out;
}

}  // namespace plumbline
