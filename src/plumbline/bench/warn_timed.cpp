// SPDX-License-Identifier: Apache-2.0
// What the timed callables do beside the kernel, and whether the two sides are treated alike.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

struct Work {
  std::string_view name;
  std::string_view what;
};

/// Methods of a tensor that are work of their own.
constexpr auto kMethods = std::to_array<Work>({
    {"clone", "copies a tensor"},
    {"contiguous", "may copy a tensor"},
    {"to", "converts or moves a tensor"},
    {"cpu", "moves a tensor to the host"},
    {"cuda", "moves a tensor to the device"},
    {"item", "waits for the device"},
    {"tolist", "waits for the device"},
    {"numpy", "waits for the device"},
    {"float", "converts a tensor"},
    {"half", "converts a tensor"},
    {"bfloat16", "converts a tensor"},
    {"double", "converts a tensor"},
    {"fill_", "fills a tensor"},
    {"zero_", "fills a tensor"},
    {"copy_", "copies a tensor"},
    {"new_empty", "allocates"},
    {"new_zeros", "allocates and fills"},
    {"new_ones", "allocates and fills"},
    {"new_full", "allocates and fills"},
    {"synchronize", "waits for the device"},
});

/// Functions of torch (or np) that allocate or fill.
constexpr auto kFactories = std::to_array<Work>({
    {"empty", "allocates"},
    {"empty_like", "allocates"},
    {"zeros", "allocates and fills"},
    {"zeros_like", "allocates and fills"},
    {"ones", "allocates and fills"},
    {"ones_like", "allocates and fills"},
    {"full", "allocates and fills"},
    {"full_like", "allocates and fills"},
    {"rand", "makes random numbers"},
    {"randn", "makes random numbers"},
    {"rand_like", "makes random numbers"},
    {"randn_like", "makes random numbers"},
    {"randint", "makes random numbers"},
    {"arange", "allocates and fills"},
    {"tensor", "copies from the host"},
    {"as_tensor", "may copy from the host"},
    {"from_numpy", "copies from the host"},
    {"manual_seed", "seeds a generator"},
    {"compile", "compiles on the first call"},
});

template <std::size_t N>
const Work* find_work(const std::array<Work, N>& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Work& work) { return work.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// What a call is beside the kernel: a name for it and what it does; nothing for the kernel's own call.
std::optional<std::pair<std::string, std::string>> extra_work(const SyntaxTree& tree,
                                                              const SyntaxNode& call) {
  const SyntaxNode* func = tree.child(call, Role::func);
  const std::string path = dotted_path(tree, *func);
  if (path == "print") return std::pair{"print", "writes to the terminal"};
  const std::string_view name = callee_name(tree, call);
  if (name == "autotune" || name == "do_bench") return std::pair{std::string(name), "times candidates"};
  const bool library = path.starts_with("torch.") || path.starts_with("np.") || path.starts_with("numpy.");
  if (library) {
    const Work* factory = find_work(kFactories, name);
    if (factory != nullptr) return std::pair{path, std::string(factory->what)};
  }
  if (func->kind != NodeKind::attribute || (library && name != "synchronize")) return std::nullopt;
  const Work* method = find_work(kMethods, name);
  if (method == nullptr) return std::nullopt;
  return std::pair{"." + std::string(name), std::string(method->what)};
}

struct Found {
  const SyntaxNode* at;
  std::string what;
};

/// The extra work of a side, each kind once, by its name.
std::map<std::string, Found> work_of(const SyntaxTree& bench, const TimedSide& side) {
  std::map<std::string, Found> found;
  if (side.body == nullptr) return found;
  for (const SyntaxNode* body : called_bodies(bench, *side.body)) {
    for (const SyntaxTree::Index i : bench.walk(bench.index(*body))) {
      const SyntaxNode& node = bench[i];
      if (node.kind != NodeKind::call) {
        if (node.role == Role::decorator && dotted_path(bench, node).ends_with("autotune")) {
          found.try_emplace("autotune", Found{&node, "times candidates"});
        }
        continue;
      }
      if (auto work = extra_work(bench, node)) found.try_emplace(work->first, Found{&node, work->second});
    }
  }
  return found;
}

std::string side_name(bool reference) { return reference ? "reference" : "student"; }

/// The first student and the first reference of the file.
const TimedSide* first_side(const std::vector<TimedSide>& sides, bool reference) {
  const auto found = std::find_if(sides.begin(), sides.end(),
                                  [&](const TimedSide& side) { return side.reference == reference; });
  return found == sides.end() ? nullptr : &*found;
}

/// Does the callable come from the student's module? Where it stands, or nullptr.
const SyntaxNode* from_kernel(const SyntaxTree& bench, const TimedSide& side) {
  if (side.target.starts_with("kernel:") || side.target.starts_with("kernel.")) return side.callable;
  const std::vector<std::string_view> bound = kernel_names(bench);
  const auto is_bound = [&](std::string_view name) {
    return std::find(bound.begin(), bound.end(), name) != bound.end();
  };
  if (side.body == nullptr) {
    return is_bound(std::string_view(side.target).substr(0, side.target.find('.'))) ? side.callable : nullptr;
  }
  for (const SyntaxNode* body : called_bodies(bench, *side.body)) {
    for (const SyntaxTree::Index i : bench.walk(bench.index(*body))) {
      const SyntaxNode& node = bench[i];
      if (imports_kernel(bench, node) || (node.kind == NodeKind::name && is_bound(bench.name(node))))
        return &node;
    }
  }
  return nullptr;
}

/// The keywords that say how a side is timed, with their source text. Those that name the side or its data
/// are not.
std::map<std::string_view, std::string_view> timing_keywords(const SyntaxTree& bench,
                                                             const SyntaxNode& call) {
  constexpr auto kOwn =
      std::to_array<std::string_view>({"prep", "inputs", "out", "name", "label", "fn", "op", "tag", "args",
                                       "kwargs", "desc", "title", "workloads"});
  std::map<std::string_view, std::string_view> keywords;
  for (const SyntaxNode& argument : bench.children(call)) {
    if (argument.role != Role::keyword || argument.name == 0) continue;
    const std::string_view name = bench.name(argument);
    if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) continue;
    keywords.emplace(name, bench.text(*bench.child(argument, Role::value)));
  }
  return keywords;
}

void compare_keywords(const SyntaxTree& bench, const TimedSide& student, const TimedSide& reference,
                      Findings& out) {
  const auto mine = timing_keywords(bench, *student.call);
  const auto theirs = timing_keywords(bench, *reference.call);
  for (const auto& [name, value] : mine) {
    const auto other = theirs.find(name);
    if (other != theirs.end() && other->second == value) continue;
    out.push_back(
        finding_at(bench, *student.call, "sides-keywords-differ",
                   fmt::format("the student is timed with {}={}, the reference with {}", name, value,
                               other == theirs.end() ? "none" : fmt::format("{}={}", name, other->second))));
    return;
  }
  for (const auto& [name, value] : theirs) {
    if (mine.contains(name)) continue;
    out.push_back(
        finding_at(bench, *reference.call, "sides-keywords-differ",
                   fmt::format("the reference is timed with {}={}, the student with none", name, value)));
    return;
  }
}

}  // namespace

Findings warn_timed_work(const SyntaxTree& bench, const std::vector<TimedSide>& sides) {
  std::map<std::string, Found> work[2];
  for (const TimedSide& side : sides) work[side.reference ? 1 : 0].merge(work_of(bench, side));
  Findings out;
  for (const bool reference : {false, true}) {
    for (const auto& [name, found] : work[reference ? 1 : 0]) {
      const bool both = work[reference ? 0 : 1].contains(name);
      if (both && reference) continue;
      out.push_back(
          both ? finding_at(bench, *found.at, "timed-extra-work-both",
                            fmt::format("both sides' timed calls use {} ({}): the ratio is pulled towards 1",
                                        name, found.what))
               : finding_at(bench, *found.at, "timed-extra-work",
                            fmt::format("the {}'s timed call uses {} ({})", side_name(reference), name,
                                        found.what)));
    }
  }
  return out;
}

Findings warn_sides(const SyntaxTree& bench, const std::vector<TimedSide>& sides) {
  Findings out;
  const TimedSide* student = first_side(sides, false);
  const TimedSide* reference = first_side(sides, true);
  if (reference == nullptr) return out;
  const bool same_body = student != nullptr && student->body != nullptr && student->body == reference->body;
  const bool same_target = student != nullptr && !student->target.empty() &&
                           student->target == reference->target &&
                           (student->body == nullptr) == (reference->body == nullptr);
  if (same_body || same_target) {
    out.push_back(
        finding_at(bench, *reference->callable, "sides-same-function",
                   fmt::format("student and reference are the same function{}",
                               student->target.empty() ? "" : fmt::format(" '{}'", student->target))));
  } else if (const SyntaxNode* at = from_kernel(bench, *reference)) {
    out.push_back(finding_at(bench, *at, "reference-from-student",
                             "the reference's timed call uses the student's module"));
  }
  if (student != nullptr && student->alone && reference->alone)
    compare_keywords(bench, *student, *reference, out);
  return out;
}

}  // namespace plumbline
