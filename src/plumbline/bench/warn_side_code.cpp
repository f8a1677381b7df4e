// SPDX-License-Identifier: Apache-2.0
// What the sides' own code does that a reading could be wrong by: work on a stream that nobody joins, calls
// that are counted, results that are kept, waiting, and looking at the harness. The harness catches most of
// it while it measures; here it is said before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/lasting.h"
#include "plumbline/bench/reach.h"
#include "plumbline/bench/values.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

constexpr auto kJoins =
    std::to_array<std::string_view>({"wait_stream", "wait_event", "synchronize", "wait", "join", "result"});
constexpr auto kLooks = std::to_array<std::string_view>(
    {"sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents",
     "inspect.stack", "inspect.currentframe", "inspect.getouterframes", "sys.setprofile", "sys.settrace",
     "threading.setprofile", "threading.settrace"});

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::size_t end_of(const SyntaxTree& tree, const SyntaxNode& node) {
  std::size_t end = node.begin;
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    if (tree[i].kind == NodeKind::name || tree[i].kind == NodeKind::constant ||
        tree[i].kind == NodeKind::call)
      end = std::max<std::size_t>(end, tree[i].end);
  }
  return end;
}

bool is_parameter(const SyntaxTree& tree, const SyntaxNode& function, std::string_view name) {
  const std::vector<Parameter> parameters = parameters_of(tree, function);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return tree.name(*parameter.node) == name; });
}

class SideCode {
 public:
  SideCode(const SyntaxTree& bench, ModuleSet& modules, Findings& out)
      : bench_(bench), modules_(modules), out_(out) {}

  void examine(const TimedSide& side) {
    const std::optional<Place> timed = definition_of(bench_, side, modules_);
    if (!timed || !(is_function(*timed->node) || timed->node->kind == NodeKind::lambda)) return;
    who_ = side.reference ? "reference" : "student";
    reference_ = side.reference;
    functions_.clear();
    reach(*timed);
    keeps(*timed);
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      streams(functions_[i]);
      counts(functions_[i]);
      chances(functions_[i]);
      waits(functions_[i]);
    }
    std::set<const SyntaxTree*> trees;
    for (const Place& place : functions_) {
      if (place.tree == &bench_ || !trees.insert(place.tree).second) continue;
      looks(*place.tree);
      for (Finding& patch : warn_patches(*place.tree, "the " + who_)) out_.push_back(std::move(patch));
    }
  }

 private:
  void reach(const Place& from) {
    for (const Place& place : reach_from(*from.tree, *from.node, {}, modules_).places) {
      if (is_function(*place.node) || place.node->kind == NodeKind::lambda) add(place);
      if (place.node->kind == NodeKind::class_def) methods(place);
      if (place.node->kind == NodeKind::call) module_side(place);
    }
  }

  void add(const Place& place) {
    const bool known = std::any_of(functions_.begin(), functions_.end(),
                                   [&](const Place& other) { return other.node == place.node; });
    if (!known) functions_.push_back(place);
  }

  void methods(const Place& cls) {
    for (const SyntaxNode& member : cls.tree->children(*cls.node)) {
      if (is_function(member)) add({cls.tree, &member});
    }
  }

  /// ModuleSide(student, "ModelNew"): the class in that module of the card.
  void module_side(const Place& call) {
    const SyntaxTree& tree = *call.tree;
    const SyntaxNode* module = positional(tree, *call.node, 0);
    const SyntaxNode* name = positional(tree, *call.node, 1);
    if (callee_name(tree, *call.node) != "ModuleSide" || module == nullptr || name == nullptr) return;
    const SyntaxTree* target = modules_.find(tree, dotted_path(tree, *module), 0);
    const auto text = literal_string(tree, *name);
    if (target == nullptr || !text) return;
    for (const SyntaxNode& node : target->children((*target)[0])) {
      if (node.kind != NodeKind::class_def || target->name(node) != *text) continue;
      reach({target, &node});
      for (const SyntaxNode& member : target->children(node)) {
        if (is_function(member) && target->name(member) == "forward") keeps({target, &member});
      }
    }
  }

  void say(const SyntaxTree& tree, const SyntaxNode& at, std::string_view code, std::string message) {
    if (told_.insert(&at).second)
      out_.push_back(finding_at(tree, at, code, fmt::format("the {} {}", who_, message)));
  }

  // -- a stream of its own
  bool joins_behind(const SyntaxTree& tree, const SyntaxNode& function, std::size_t behind) const {
    for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
      if (tree[i].kind == NodeKind::call && tree[i].begin >= behind &&
          among(kJoins, callee_name(tree, tree[i])))
        return true;
    }
    return false;
  }

  void streams(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      const SyntaxNode* entered = nullptr;
      if (node.kind == NodeKind::with_stmt) {
        for (const SyntaxNode& item : tree.children(node)) {
          if (item.kind != NodeKind::with_item) continue;
          const SyntaxNode* context = tree.child(item, Role::context);
          if (context == nullptr) context = &tree.children(item)[0];
          if (context->kind == NodeKind::call &&
              (callee_name(tree, *context) == "stream" || callee_name(tree, *context) == "StreamContext"))
            entered = context;
        }
      } else if (node.kind == NodeKind::call && callee_name(tree, node) == "set_stream") {
        entered = &node;
      }
      if (node.kind == NodeKind::call && callee_name(tree, node) == "Thread" &&
          !joins_behind(tree, *place.node, node.begin)) {
        say(tree, node, "side-stream", "starts a thread and nothing waits for it: the window closes before");
      }
      if (entered == nullptr) continue;
      const SyntaxNode* stream = positional(tree, *entered, 0);
      // A caller's stream is the caller's to join; the current one needs no joining.
      if (stream == nullptr || is_none(*stream)) continue;
      if (stream->kind == NodeKind::name && is_parameter(tree, *place.node, tree.name(*stream))) continue;
      if (stream->kind == NodeKind::call && callee_name(tree, *stream) == "current_stream") continue;
      bool joined = joins_behind(tree, *place.node, end_of(tree, node));
      for (const Place& other : functions_)  // a caller may join
        joined = joined || (other.node != place.node && joins_behind(*other.tree, *other.node, 0));
      if (!joined) {
        say(tree, *entered, "side-stream",
            "works on a stream of its own and nothing waits for it afterwards: the window closes before the "
            "work is done");
      }
    }
  }

  // -- calls that are counted
  static bool asks_length(const SyntaxTree& tree, const SyntaxNode& function, const std::string& name) {
    for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
      const SyntaxNode* first = tree[i].kind == NodeKind::call ? positional(tree, tree[i], 0) : nullptr;
      if (first != nullptr && callee_name(tree, tree[i]) == "len" && dotted_path(tree, *first) == name)
        return true;
    }
    return false;
  }

  LastingNames counters(const Place& place) const {
    const SyntaxTree& tree = *place.tree;
    LastingNames names;
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      std::string name;
      if (node.kind == NodeKind::aug_assign) {
        name = lasting(tree, *place.node, tree.children(node)[0]);
      } else if (node.kind == NodeKind::call && callee_name(tree, node) == "next") {
        const SyntaxNode* from = positional(tree, node, 0);
        if (from != nullptr) name = lasting(tree, *place.node, *from);
      } else if (node.kind == NodeKind::call && callee_name(tree, node) == "append") {  // len(_seen) counts
        const SyntaxNode* func = tree.child(node, Role::func);
        const SyntaxNode* list = func->kind == NodeKind::attribute ? tree.child(*func, Role::value) : nullptr;
        const std::string kept = list == nullptr ? std::string() : lasting(tree, *place.node, *list);
        if (!kept.empty() && asks_length(tree, *place.node, kept)) name = kept;
      } else if (node.kind == NodeKind::assign) {  // _calls = _calls + 1
        const SyntaxNode* value = tree.child(node, Role::value);
        const SyntaxNode& target = tree.children(node)[0];
        const std::string path = lasting(tree, *place.node, target);
        const bool sum = value != nullptr && value->kind == NodeKind::bin_op &&
                         (value->detail == '+' || value->detail == '-' || value->detail == '%');
        if (sum && !path.empty() && lasting_in(tree, *place.node, *value).contains(path)) name = path;
      }
      if (!name.empty()) names.insert(name);
    }
    return names;
  }

  /// What is bound to the value of a counter: n = next(_calls).
  static LastingNames bound_to(const SyntaxTree& tree, const SyntaxNode& function,
                               const LastingNames& counters) {
    LastingNames names = counters;
    for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
      const auto bound = name_binding(tree, tree[i]);
      if (!bound) continue;
      for (const std::string& name : lasting_in(tree, function, *bound->value)) {
        if (counters.contains(name)) names.insert(std::string(bound->name));
      }
    }
    return names;
  }

  /// Does a branch change what is returned? A print, or a collection of garbage, does not.
  static bool decides(const SyntaxTree& tree, const SyntaxNode& branch) {
    if (branch.kind == NodeKind::if_exp) return true;
    const SyntaxNode* test = tree.child(branch, Role::test);
    for (const SyntaxTree::Index i : tree.walk(tree.index(branch))) {
      const SyntaxNode& node = tree[i];
      if (test != nullptr && tree.inside(i, tree.index(*test))) continue;
      if (node.kind == NodeKind::return_stmt || node.kind == NodeKind::assign) return true;
    }
    return false;
  }

  /// A branch that asks a clock, a dice or how it was started.
  void chances(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      if (node.kind != NodeKind::if_stmt && node.kind != NodeKind::if_exp) continue;
      const SyntaxNode* test = tree.child(node, Role::test);
      if (test == nullptr || !decides(tree, node)) continue;
      for (const SyntaxTree::Index k : tree.walk(tree.index(*test))) {
        if (tree[k].kind != NodeKind::attribute) continue;
        const std::string path = dotted_path(tree, tree[k]);
        if (!path.starts_with("time.") && !path.starts_with("random.") && path != "sys.argv") continue;
        say(tree, node, "side-looks-around", fmt::format("does one thing or another by {}", path));
        break;
      }
    }
  }

  void counts(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    const LastingNames counted = counters(place);
    if (counted.empty()) return;
    const LastingNames names = bound_to(tree, *place.node, counted);
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      if (node.kind != NodeKind::if_stmt && node.kind != NodeKind::if_exp) continue;
      const SyntaxNode* test = tree.child(node, Role::test);
      if (test == nullptr || !names_any(tree, *test, names) || !decides(tree, node)) continue;
      say(tree, node, "side-counts-calls",
          fmt::format("counts its calls ('{}') and does something else in some of them", *counted.begin()));
      return;
    }
  }

  // -- results that are kept
  void keeps(const Place& place) {
    for (const KeptResult& kept : kept_results(*place.tree, *place.node))
      say(*place.tree, *kept.at, "side-keeps-results", kept.how);
  }

  // -- waiting
  void waits(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      if (node.kind != NodeKind::call) continue;
      const std::string path = dotted_path(tree, *tree.child(node, Role::func));
      if (path == "time.sleep" || path == "sleep" || path.ends_with("cuda._sleep") ||
          (reference_ && path == "torch.cuda.synchronize")) {
        say(tree, node, "side-waits", fmt::format("waits in its call ({})", path));
      }
    }
  }

  // -- looking at the harness
  void looks(const SyntaxTree& tree) {
    for (const SyntaxNode& node : tree.nodes()) {
      const SyntaxNode& parent = tree.parent(node);
      if (node.kind == NodeKind::attribute && parent.kind != NodeKind::attribute) {
        const std::string path = dotted_path(tree, node);
        if (among(kLooks, path))
          say(tree, node, "side-looks-around", fmt::format("uses {}, which shows it its caller", path));
      } else if (node.kind == NodeKind::call && callee_name(tree, node) == "query") {
        const SyntaxNode* object = tree.child(*tree.child(node, Role::func), Role::value);
        if (object != nullptr && object->kind == NodeKind::call &&
            callee_name(tree, *object) == "current_stream")
          say(tree, node, "side-looks-around", "asks whether its stream is busy");
      } else if (node.kind == NodeKind::constant) {
        const auto text = literal_string(tree, node);
        if (text && (text->starts_with("PLUMBLINE") || text->starts_with("/proc/")))
          say(tree, node, "side-looks-around", fmt::format("names {}", *text));
      }
    }
  }

  const SyntaxTree& bench_;
  ModuleSet& modules_;
  Findings& out_;
  std::string who_;
  bool reference_ = false;
  std::vector<Place> functions_;
  std::set<const SyntaxNode*> told_;
};

}  // namespace

Findings warn_side_code(const SyntaxTree& bench, const std::vector<TimedSide>& sides, ModuleSet& modules) {
  Findings out;
  SideCode code(bench, modules, out);
  for (const TimedSide& side : sides) code.examine(side);
  return out;
}

}  // namespace plumbline
