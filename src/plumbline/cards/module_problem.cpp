// SPDX-License-Identifier: Apache-2.0
// KernelBench's problems: a torch.nn.Module, what makes its inputs, and what it is constructed from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"
#include "plumbline/cards/written.h"

namespace plumbline {
namespace {

constexpr int kMostBases = 8;

/// What holds neither parameters nor buffers, or is not a module at all.
constexpr auto kStateless = std::to_array<std::string_view>({"super",
                                                             "__init__",
                                                             "int",
                                                             "float",
                                                             "bool",
                                                             "str",
                                                             "len",
                                                             "tuple",
                                                             "list",
                                                             "range",
                                                             "max",
                                                             "min",
                                                             "sqrt",
                                                             "ReLU",
                                                             "ReLU6",
                                                             "GELU",
                                                             "SiLU",
                                                             "Mish",
                                                             "ELU",
                                                             "SELU",
                                                             "CELU",
                                                             "LeakyReLU",
                                                             "Sigmoid",
                                                             "LogSigmoid",
                                                             "Tanh",
                                                             "Hardtanh",
                                                             "Hardswish",
                                                             "Hardsigmoid",
                                                             "Softplus",
                                                             "Softsign",
                                                             "Softmax",
                                                             "LogSoftmax",
                                                             "Softmax2d",
                                                             "MaxPool1d",
                                                             "MaxPool2d",
                                                             "MaxPool3d",
                                                             "AvgPool1d",
                                                             "AvgPool2d",
                                                             "AvgPool3d",
                                                             "Dropout",
                                                             "Dropout1d",
                                                             "Dropout2d",
                                                             "Dropout3d",
                                                             "Flatten",
                                                             "Unflatten",
                                                             "Identity",
                                                             "Upsample",
                                                             "PixelShuffle",
                                                             "CosineSimilarity",
                                                             "AdaptiveAvgPool1d",
                                                             "AdaptiveAvgPool2d",
                                                             "AdaptiveAvgPool3d",
                                                             "AdaptiveMaxPool1d",
                                                             "AdaptiveMaxPool2d",
                                                             "AdaptiveMaxPool3d",
                                                             "MSELoss",
                                                             "L1Loss",
                                                             "HuberLoss",
                                                             "SmoothL1Loss",
                                                             "KLDivLoss",
                                                             "CrossEntropyLoss",
                                                             "NLLLoss",
                                                             "TripletMarginLoss",
                                                             "BCELoss"});

const SyntaxNode* class_named(const SyntaxTree& tree, std::string_view name) {
  for (const SyntaxNode& node : tree.children(tree[0])) {
    if (node.kind == NodeKind::class_def && tree.name(node) == name) return &node;
  }
  return nullptr;
}

std::string classes_of(const SyntaxTree& tree) {
  std::vector<std::string> names;
  for (const SyntaxNode& node : tree.children(tree[0])) {
    if (node.kind == NodeKind::class_def && names.size() < 8) names.emplace_back(tree.name(node));
  }
  return names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
}

/// The base class in the same file, or nullptr; `known` is false where the base is another one than
/// nn.Module.
const SyntaxNode* base_of(const SyntaxTree& tree, const SyntaxNode& cls, bool& known) {
  const SyntaxNode* found = nullptr;
  for (const SyntaxNode& base : tree.children(cls)) {
    if (base.role != Role::base) continue;
    const std::string path = dotted_path(tree, base);
    const SyntaxNode* here = class_named(tree, path);
    if (here != nullptr && here != &cls) found = here;
    const std::string last = path.substr(path.rfind('.') + 1);
    if (here == nullptr && last != "Module" && last != "ABC" && last != "object") known = false;
  }
  return found;
}

/// The method of a class or of its bases in the same file, or nullptr.
const SyntaxNode* method(const SyntaxTree& tree, const SyntaxNode& cls, std::string_view name, bool& known) {
  const SyntaxNode* at = &cls;
  for (int step = 0; at != nullptr && step < kMostBases; ++step) {
    for (const SyntaxNode& member : tree.children(*at)) {
      if (is_function(member) && member.role == Role::body && tree.name(member) == name) return &member;
    }
    at = base_of(tree, *at, known);
  }
  return nullptr;
}

/// How many values get_inputs() returns as a literal list or tuple, or nothing.
std::optional<std::size_t> made_count(const SyntaxTree& tree, const SyntaxNode& function) {
  std::optional<std::size_t> count;
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if (node.kind != NodeKind::return_stmt || enclosing_function(tree, node) != &function) continue;
    if (node.child_count == 0) return {};
    const SyntaxNode* value = &tree.children(node)[0];
    if (value->kind == NodeKind::name) {  // inputs = […]; return inputs
      const SyntaxNode* only = nullptr;
      for (const SyntaxTree::Index k : tree.walk(tree.index(function))) {
        const SyntaxNode& target = tree[k];
        const SyntaxNode& parent = tree.parent(target);
        if (target.kind != NodeKind::name || tree.name(target) != tree.name(*value) || &target == value) {
          continue;
        }
        if (parent.kind != NodeKind::assign || target.role == Role::value || only != nullptr) return {};
        only = tree.child(parent, Role::value);
      }
      if (only == nullptr) return {};
      value = only;
    }
    if (value->kind != NodeKind::list && value->kind != NodeKind::tuple) return {};
    for (const SyntaxNode& element : tree.children(*value)) {
      if (element.kind == NodeKind::starred) return {};
    }
    if (count && *count != value->child_count) return {};
    count = value->child_count;
  }
  return count;
}

/// May a module of this class hold parameters? Only where its constructor plainly makes none does it not.
bool may_hold_state(const SyntaxTree& tree, const SyntaxNode& cls) {
  bool known = true;
  const SyntaxNode* init = method(tree, cls, "__init__", known);
  if (!known) return true;
  if (init == nullptr) return false;
  for (const SyntaxTree::Index i : tree.walk(tree.index(*init))) {
    if (tree[i].kind != NodeKind::call) continue;
    const std::string_view callee = callee_name(tree, tree[i]);
    if (std::find(kStateless.begin(), kStateless.end(), callee) == kStateless.end()) return true;
  }
  return false;
}

bool registers_buffers(const SyntaxTree& tree) {
  return std::any_of(tree.nodes().begin(), tree.nodes().end(), [&](const SyntaxNode& node) {
    if (node.kind != NodeKind::call) return false;
    const std::string_view callee = callee_name(tree, node);
    return callee == "register_buffer" || callee == "Buffer";
  });
}

/// How many tensors forward() returns, as far as its return statements say: 1 where they do not.
std::size_t output_count(const SyntaxTree& tree, const SyntaxNode& forward) {
  std::size_t count = 1;
  for (const SyntaxTree::Index i : tree.walk(tree.index(forward))) {
    const SyntaxNode& node = tree[i];
    if (node.kind != NodeKind::return_stmt || node.child_count == 0 ||
        enclosing_function(tree, node) != &forward) {
      continue;
    }
    const SyntaxNode& value = tree.children(node)[0];
    if (value.kind == NodeKind::tuple || value.kind == NodeKind::list)
      count = std::max<std::size_t>(count, value.child_count);
  }
  return count;
}

/// What the problem's file says of the module.
struct Module {
  std::vector<std::string> inputs;  ///< the parameters of forward() that get_inputs() fills
  std::string parameters, buffers;  ///< names of the two tensors of state, or ""
  std::size_t outputs = 1;
};

Parsed<Module> read_module(const SyntaxTree& tree) {
  const auto refuse = [&](const SyntaxNode& at, std::string message) {
    return failed<Module>(not_converted(tree, at, std::move(message)));
  };
  const SyntaxNode* model = class_named(tree, "Model");
  if (model == nullptr)
    return refuse(tree[0], "there is no class Model at the level of the module; " + classes_of(tree));
  const SyntaxNode* maker = module_function(tree, "get_inputs");
  if (maker == nullptr) return refuse(tree[0], "there is no function get_inputs() that makes the inputs");
  bool known = true;
  const SyntaxNode* forward = method(tree, *model, "forward", known);
  if (forward == nullptr) return refuse(*model, "Model defines no forward()");
  Module out;
  std::size_t required = 0;
  const std::vector<Parameter> parameters = parameters_of(tree, *forward);
  for (std::size_t i = 1; i < parameters.size(); ++i) {  // the first is self
    if (parameters[i].stars == 2) continue;
    if (parameters[i].stars == 1) {
      return refuse(*parameters[i].node, "forward() takes *" + std::string(tree.name(*parameters[i].node)) +
                                             ": its inputs have no names that a contract could list");
    }
    out.inputs.emplace_back(tree.name(*parameters[i].node));
    if (!parameters[i].has_default) required = out.inputs.size();
  }
  const std::optional<std::size_t> made = made_count(tree, *maker);
  if (made && (*made < required || *made > out.inputs.size())) {
    return refuse(*maker,
                  fmt::format("get_inputs() makes {} inputs, and forward() takes {}", *made,
                              out.inputs.empty() ? "none" : fmt::format("{}", fmt::join(out.inputs, ", "))));
  }
  out.inputs.resize(made.value_or(required));
  const auto free_name = [&](std::string name) {
    while (std::find(out.inputs.begin(), out.inputs.end(), name) != out.inputs.end()) name = "model_" + name;
    return name;
  };
  if (may_hold_state(tree, *model)) {
    out.parameters = free_name("parameters");
    if (registers_buffers(tree)) out.buffers = free_name("buffers");
  }
  if (out.inputs.empty() && out.parameters.empty())
    return refuse(*forward, "forward() takes no input, so there is nothing to hold a call to");
  out.outputs = output_count(tree, *forward);
  return {std::move(out), {}};
}

constexpr std::string_view kBench =
    R"("""Times both sides on the board's input set and writes eval.json.

    plumbline run {name}
"""
import os
import sys

from plumbline import run_leaderboard_bench
from plumbline.problems import module_inputs

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import problem  # noqa: E402


def make_inputs(entry, seed):
    """{what}, all from this seed."""
    return module_inputs(problem, {names}, seed{state})


if __name__ == "__main__":
    run_leaderboard_bench(student="kernel:run", reference="reference:run", make_inputs=make_inputs, out="eval.json")
)";

constexpr std::string_view kPrepare = R"(import bench  # noqa: E402


def make_inputs(seed):
    """One set of inputs."""
    return bench.make_inputs(WORKLOAD, seed)


)";

std::string bench_of(std::string_view name, const Module& module) {
  std::vector<std::string> quoted;
  for (const std::string& input : module.inputs) quoted.push_back("\"" + input + "\"");
  std::string state, what = "What get_inputs() makes";
  if (!module.parameters.empty()) {
    state += fmt::format(", parameters=\"{}\"", module.parameters);
    what += module.buffers.empty() ? ", and a Model's parameters" : ", and a Model's parameters and buffers";
  }
  if (!module.buffers.empty()) state += fmt::format(", buffers=\"{}\"", module.buffers);
  return fmt::format(fmt::runtime(kBench), fmt::arg("name", name), fmt::arg("what", what),
                     fmt::arg("names", fmt::format("[{}]", fmt::join(quoted, ", "))),
                     fmt::arg("state", state));
}

/// kernel.py or reference.py of a module.
std::string side_of(const Module& module, std::string_view remark, std::string_view file,
                    std::string_view cls, bool needs_problem) {
  std::vector<std::string> parameters = module.inputs;
  std::string call = fmt::format("{}", fmt::join(module.inputs, ", "));
  for (const auto& [keyword, name] :
       {std::pair("parameters", module.parameters), std::pair("buffers", module.buffers)}) {
    if (name.empty()) continue;
    parameters.push_back(name);
    call += fmt::format("{}{}={}", call.empty() ? "" : ", ", keyword, name);
  }
  const std::string before = fmt::format(
      "from plumbline.problems import ModuleSide\n\nimport {0}\n{2}\n_module = ModuleSide({0}, \"{1}\"{3})\n",
      file, cls, needs_problem ? "import problem\n" : "", needs_problem ? ", problem" : "");
  return side_file(remark, before, parameters, fmt::format("_module({})", call));
}

/// The student's file and class: another file's, the problem's ModelNew, or Model itself.
struct Student {
  std::string text, cls, summary;
  bool same_file = false;      ///< ModelNew stands in the problem's file
  bool needs_problem = false;  ///< its file has no get_init_inputs() of its own
};

Parsed<Student> student_of(const SyntaxTree& problem, const std::string& text,
                           const std::optional<PythonInput>& given) {
  if (!given) {
    const bool own = class_named(problem, "ModelNew") != nullptr;
    return {Student{text, own ? "ModelNew" : "Model",
                    own ? "ModelNew" : "the reference itself, to be replaced", own, false},
            {}};
  }
  const Parsed<SyntaxTree> tree = parse_problem(given->text, given->file);
  if (!tree.ok()) return {std::nullopt, tree.diagnostics};
  if (Diagnostics local = local_imports(*tree.value, given->siblings); !local.empty())
    return {std::nullopt, std::move(local)};
  for (const char* cls : {"ModelNew", "Model"}) {
    if (class_named(*tree.value, cls) == nullptr) continue;
    return {Student{std::string(tree.value->source()), cls, fmt::format("{} of {}", cls, given->file), false,
                    module_function(*tree.value, "get_init_inputs") == nullptr},
            {}};
  }
  return failed<Student>(
      not_converted(*tree.value, (*tree.value)[0], "there is no class ModelNew; " + classes_of(*tree.value)));
}

}  // namespace

Parsed<NewCard> card_from_module(std::string_view name, const PythonInput& problem,
                                 const std::optional<PythonInput>& student) {
  const Parsed<SyntaxTree> tree = parse_problem(problem.text, problem.file);
  if (!tree.ok()) return {std::nullopt, tree.diagnostics};
  if (Diagnostics local = local_imports(*tree.value, problem.siblings); !local.empty())
    return {std::nullopt, std::move(local)};
  const Parsed<Module> module = read_module(*tree.value);
  if (!module.ok()) return {std::nullopt, module.diagnostics};
  const std::string text(tree.value->source());
  const Parsed<Student> other = student_of(*tree.value, text, student);
  if (!other.ok()) return {std::nullopt, other.diagnostics};

  SameBoundary boundary{"forward() of Model", "forward() of " + other.value->cls, module.value->inputs, {}};
  for (const std::string& state : {module.value->parameters, module.value->buffers}) {
    if (!state.empty()) boundary.inputs.push_back(state);
  }
  for (std::size_t i = 0; i < module.value->outputs; ++i)
    boundary.outputs.push_back(module.value->outputs == 1 ? "output" : fmt::format("output{}", i));
  const std::string remark =
      module.value->parameters.empty()
          ? "# Both calls have the same boundary.\n"
          : fmt::format(
                "# Both calls have the same boundary. {}: those of Model, one after the other in "
                "one tensor{}.\n",
                module.value->parameters, module.value->buffers.empty() ? "" : ", and so buffers");
  const Json board = {{"board", "kernelbench"}, {"group", Json::array({{{"name", name}}})}};

  NewCard card;
  card.student = other.value->summary;
  // Where one file holds both, the reference gets what Model needs of it, and none of the student's code.
  const std::string kept =
      other.value->same_file ? python_part(*tree.value, {"Model", "get_inputs", "get_init_inputs"}) : text;
  card.files = {
      {"window.toml", contract_of(boundary, remark)},
      {"eval/bench.py", bench_of(name, *module.value)},
      {"eval/ncu_run.py", launch_script(kPrepare)},
      {"eval/leaderboard/problem.json", write_json(board)},
      {"problem.py", kept},
      {"student.py", other.value->text},
      {"reference.py",
       side_of(*module.value, "The reference: Model of problem.py.", "problem", "Model", false)},
      {"kernel.py", side_of(*module.value, fmt::format("The student: {} of student.py.", other.value->cls),
                            "student", other.value->cls, other.value->needs_problem)}};
  return {std::move(card), {}};
}

}  // namespace plumbline
