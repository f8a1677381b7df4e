// SPDX-License-Identifier: Apache-2.0
// Problems that are written as a definition and workloads: SOL-ExecBench's folders, FlashInfer-Bench's trace
// sets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "plumbline/base/json.h"
#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"
#include "plumbline/cards/written.h"

namespace plumbline {
namespace {

constexpr std::size_t kMostChosen =
    16;  // workloads that a new card times; the board's file keeps all of them
constexpr auto kDtypes =
    std::to_array<std::string_view>({"float64", "float32", "float16", "bfloat16", "float8_e4m3fn",
                                     "float8_e5m2", "int64", "int32", "int16", "int8", "bool"});
constexpr auto kSources = std::to_array<std::string_view>({"random", "scalar", "safetensors", "custom"});

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// One tensor or number of the definition.
struct Value {
  std::string name, dtype;
  bool scalar = false;
};

/// What is read of a definition.
struct Definition {
  OrderedJson json;
  std::string name;
  std::vector<Value> inputs, outputs;
  std::string reference;
};

class Reader {
 public:
  explicit Reader(const DefinitionInput& problem) : problem_(problem) {}

  Parsed<Definition> read() {
    Parsed<OrderedJson> json = parse_json_ordered(problem_.definition, problem_.file);
    if (!json.ok()) return {std::nullopt, json.diagnostics};
    definition_.json = std::move(*json.value);
    const OrderedJson& all = definition_.json;
    if (!all.is_object()) return refuse("the definition is not an object");
    if (!all.contains("name") || !all["name"].is_string()) return refuse("the definition has no name");
    definition_.name = all["name"];
    for (const char* key : {"axes", "inputs", "outputs"}) {
      if (!all.contains(key) || !all[key].is_object())
        return refuse(fmt::format("the definition has no object \"{}\"", key));
    }
    for (const auto& [axis, spec] : all["axes"].items()) {
      const std::string type = spec.is_object() ? text(spec, "type") : "";
      if (type != "const" && type != "var" && type != "expr")
        return refuse(fmt::format("the axis {} is not a const, var or expr", in_quotes(axis)));
      if (type == "const" && !(spec.contains("value") && spec["value"].is_number_integer()))
        return refuse(fmt::format("the axis {} has no whole number as its value", in_quotes(axis)));
      axes_.insert(axis);
    }
    for (const auto& [key, into] :
         {std::pair("inputs", &definition_.inputs), std::pair("outputs", &definition_.outputs)}) {
      for (const auto& [name, spec] : all[key].items()) {
        if (std::optional<std::string> trouble = value(name, spec, *into)) return refuse(*trouble);
      }
    }
    if (definition_.inputs.empty()) return refuse("the definition lists no inputs");
    if (definition_.outputs.empty()) return refuse("the definition lists no outputs");
    for (const Value& output : definition_.outputs) {
      if (output.scalar)
        return refuse(fmt::format("the output {} is a plain number; outputs are tensors", output.name));
    }
    definition_.reference = text(all, "reference");
    if (definition_.reference.empty()) definition_.reference = problem_.reference.value_or("");
    if (definition_.reference.empty()) return refuse("the definition holds no reference");
    return {std::move(definition_), {}};
  }

 private:
  static std::string text(const OrderedJson& object, const char* key) {
    return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : std::string();
  }

  Parsed<Definition> refuse(std::string message) const {
    return failed<Definition>(diagnose("problem-not-converted", std::move(message), {problem_.file}));
  }

  std::optional<std::string> value(const std::string& name, const OrderedJson& spec,
                                   std::vector<Value>& into) const {
    if (!is_identifier(name)) return fmt::format("{} cannot be the name of a parameter", in_quotes(name));
    if (!spec.is_object() || !spec.contains("shape") || text(spec, "dtype").empty())
      return fmt::format("{} lacks its shape or dtype", name);
    const OrderedJson& shape = spec["shape"];
    if (!shape.is_null() && !shape.is_array()) return fmt::format("the shape of {} is not a list", name);
    for (const OrderedJson& axis : shape.is_array() ? shape : OrderedJson::array()) {
      if (!axis.is_number_integer() && !(axis.is_string() && axes_.contains(axis.get<std::string>())))
        return fmt::format("the shape of {} names {}, which is not an axis", name, in_quotes(axis.dump()));
    }
    const std::string dtype = text(spec, "dtype");
    if (std::find(kDtypes.begin(), kDtypes.end(), dtype) == kDtypes.end())
      return fmt::format("no contents are known for the dtype {} of {}", in_quotes(dtype), name);
    into.push_back({name, dtype, shape.is_null()});
    return {};
  }

  const DefinitionInput& problem_;
  Definition definition_;
  std::set<std::string> axes_;
};

/// The workloads as the card keeps them, and those that it times.
struct Workloads {
  std::string lines;
  std::vector<std::string> chosen;  ///< uuids; empty: all of them
  std::string summary;
};

Parsed<Workloads> read_workloads(const DefinitionInput& problem, const Definition& definition) {
  const auto refuse = [&](int line, std::string message) {
    return failed<Workloads>(diagnose("problem-not-converted", std::move(message),
                                      {problem.workloads_file, line, line > 0 ? 1 : 0}));
  };
  Workloads out;
  std::vector<std::string> uuids;
  int number = 0;
  std::string_view rest = *problem.workloads;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
    if (trim(line).empty()) continue;
    Parsed<Json> parsed = parse_json(line, problem.workloads_file);
    if (!parsed.ok()) {
      parsed.diagnostics.front().line = number;
      return {std::nullopt, parsed.diagnostics};
    }
    const Json& row = *parsed.value;
    if (!row.is_object()) return refuse(number, "a workload is not an object");
    const bool trace = row.contains("workload");
    if (trace && row.contains("definition") && row["definition"] != definition.name) continue;
    const Json& workload = trace ? row["workload"] : row;
    if (!workload.is_object() || !workload.contains("uuid") || !workload["uuid"].is_string() ||
        !workload.contains("axes") || !workload["axes"].is_object() || !workload.contains("inputs") ||
        !workload["inputs"].is_object()) {
      return refuse(number, "a workload lacks its uuid, axes or inputs");
    }
    for (const auto& [axis, spec] : definition.json["axes"].items()) {
      if (spec["type"] == "var" && !workload["axes"].contains(axis))
        return refuse(number, fmt::format("the workload gives no value for the axis {}", axis));
    }
    for (const auto& [input, source] : workload["inputs"].items()) {
      const std::string type = source.is_object() && source.contains("type") && source["type"].is_string()
                                   ? source["type"].get<std::string>()
                                   : std::string();
      if (std::find(kSources.begin(), kSources.end(), type) == kSources.end())
        return refuse(
            number,
            fmt::format("the input {} comes from {}; known are random, scalar, safetensors and custom", input,
                        in_quotes(type)));
      if (type == "custom" && !definition.json.contains("custom_inputs_entrypoint"))
        return refuse(
            number, "the workload wants custom inputs, and the definition names no custom_inputs_entrypoint");
    }
    const auto uuid = workload["uuid"].get<std::string>();
    if (std::find(uuids.begin(), uuids.end(), uuid) == uuids.end()) uuids.push_back(uuid);
    out.lines.append(line).append("\n");
  }
  if (uuids.empty()) return refuse(0, fmt::format("there is no workload of {}", definition.name));
  out.summary = fmt::format("{} workload{} of the board", uuids.size(), uuids.size() == 1 ? "" : "s");
  if (uuids.size() > kMostChosen) {
    for (std::size_t i = 0; i < kMostChosen; ++i)
      out.chosen.push_back(uuids[i * (uuids.size() - 1) / (kMostChosen - 1)]);
    out.summary = fmt::format("{} of the board's {} workloads; group in problem.json names them", kMostChosen,
                              uuids.size());
  }
  return {std::move(out), {}};
}

/// Three workloads of our own, where the definition leaves nothing to guess but sizes.
Parsed<Workloads> made_workloads(const DefinitionInput& problem, const Definition& definition) {
  const auto refuse = [&](std::string_view why) {
    return failed<Workloads>(diagnose(
        "problem-not-converted",
        fmt::format("there are no workloads beside the definition, and {}, so none can be made up", why),
        {problem.file}));
  };
  const OrderedJson& all = definition.json;
  if (all.contains("constraints") && all["constraints"].is_array() && !all["constraints"].empty())
    return refuse("its axes are bound by constraints");
  if (all.contains("custom_inputs_entrypoint") && !all["custom_inputs_entrypoint"].is_null())
    return refuse("its inputs come from a function of its own");
  Json inputs = Json::object();
  for (const Value& input : definition.inputs) {
    if (!input.dtype.starts_with("float") && !input.dtype.starts_with("bfloat"))
      return refuse(fmt::format("the integers of {} may be indices", input.name));
    const bool small = input.scalar && to_lower(input.name).find("eps") != std::string::npos;
    inputs[input.name] =
        input.scalar ? Json{{"type", "scalar"}, {"value", small ? 1e-6 : 1.0}} : Json{{"type", "random"}};
  }
  std::vector<std::string> axes;
  for (const auto& [axis, spec] : all["axes"].items()) {
    if (spec["type"] == "var") axes.push_back(axis);
  }
  Workloads out;
  // Sizes that fit into any GPU: a tensor of two such axes and a few constant ones stays under some 100 MB.
  const int largest = axes.size() <= 1 ? 4096 : axes.size() == 2 ? 64 : 16;
  for (const int size : axes.empty() ? std::vector{1} : std::vector{largest, largest / 2, largest / 4}) {
    Json values = Json::object();
    for (const std::string& axis : axes) values[axis] = size;
    out.lines += write_json_line({{"uuid", axes.empty() ? "only" : fmt::format("size_{}", size)},
                                  {"axes", values},
                                  {"inputs", inputs}}) +
                 "\n";
  }
  out.summary =
      axes.empty()
          ? "one workload: no axis varies"
          : fmt::format(
                "three workloads of made-up sizes ({} = {}, {}, {}), since the definition comes without",
                fmt::join(axes, ", "), largest, largest / 2, largest / 4);
  return {std::move(out), {}};
}

constexpr std::string_view kBench = R"("""Times both sides on the board's input sets and writes eval.json.

    plumbline run {name}
"""
from plumbline import run_leaderboard_bench

if __name__ == "__main__":
    run_leaderboard_bench(student="kernel:run", reference="reference:run", out="eval.json")
)";

constexpr std::string_view kPrepare = R"(from plumbline.leaderboard import board_inputs

make_inputs = board_inputs(os.path.join(HERE, "leaderboard", "problem.json"), WORKLOAD)

)";

/// run() of a file, held to the definition: called with one argument for each input, in their order.
Diagnostics check_run(const PythonInput& file, std::size_t inputs) {
  const Parsed<SyntaxTree> tree = parse_problem(file.text, file.file);
  if (!tree.ok()) return tree.diagnostics;
  if (Diagnostics local = local_imports(*tree.value, file.siblings); !local.empty()) return local;
  const SyntaxNode* run = module_function(*tree.value, "run");
  if (run == nullptr) return {not_converted(*tree.value, (*tree.value)[0], "there is no function run()")};
  std::size_t most = 0, least = 0;
  for (const Parameter& parameter : parameters_of(*tree.value, *run)) {
    if (parameter.stars == 1) most = inputs;
    if (parameter.stars != 0) continue;
    ++most;
    least += parameter.has_default ? 0 : 1;
  }
  if (least <= inputs && inputs <= most) return {};
  return {
      not_converted(*tree.value, *run,
                    fmt::format("run() takes {} arguments, and the definition has {} inputs{}", least, inputs,
                                least > inputs ? " (outputs as arguments are not filled in)" : ""))};
}

}  // namespace

Parsed<NewCard> card_from_definition(std::string_view name, const DefinitionInput& problem,
                                     const std::optional<PythonInput>& student) {
  Parsed<Definition> read = Reader(problem).read();
  if (!read.ok()) return {std::nullopt, read.diagnostics};
  const Definition& definition = *read.value;
  const Parsed<Workloads> workloads =
      problem.workloads ? read_workloads(problem, definition) : made_workloads(problem, definition);
  if (!workloads.ok()) return {std::nullopt, workloads.diagnostics};
  // The place in the JSON text says nothing of the source in it: its own lines count from its first.
  const PythonInput reference{definition.reference, problem.file + " (reference)", {}};
  for (const PythonInput* side : {&reference, student ? &*student : &reference}) {
    if (Diagnostics trouble = check_run(*side, definition.inputs.size()); !trouble.empty())
      return {std::nullopt, std::move(trouble)};
  }

  SameBoundary boundary{
      "run() of the board's reference", student ? "run() of the student" : "the same", {}, {}};
  std::vector<std::string> parameters;
  for (const Value& input : definition.inputs) {
    parameters.push_back(input.name);
    if (!input.scalar) boundary.inputs.push_back(input.name);
  }
  for (const Value& output : definition.outputs) {
    const bool taken = std::find(parameters.begin(), parameters.end(), output.name) != parameters.end();
    boundary.outputs.push_back(taken ? output.name + "_out" : output.name);
  }
  Json board = {{"board", problem.board}, {"definition", "definition.json"}, {"workloads", "workload.jsonl"}};
  if (!workloads.value->chosen.empty()) board["group"] = workloads.value->chosen;
  if (!problem.root.empty()) board["root"] = problem.root;
  OrderedJson kept = definition.json;
  kept["reference"] = definition.reference;

  const std::string call = fmt::format("({})", fmt::join(parameters, ", "));
  NewCard card;
  card.student =
      fmt::format("{}; {}", student ? "run() of " + student->file : "the reference itself, to be replaced",
                  workloads.value->summary);
  card.files = {
      {"window.toml", contract_of(boundary, "# Both calls have the same boundary.\n")},
      {"eval/bench.py", fmt::format(fmt::runtime(kBench), fmt::arg("name", name))},
      {"eval/ncu_run.py", launch_script(kPrepare)},
      {"eval/leaderboard/problem.json", write_json(board)},
      {"eval/leaderboard/definition.json", kept.dump(2) + "\n"},
      {"eval/leaderboard/workload.jsonl", workloads.value->lines},
      {"problem.py", definition.reference + (definition.reference.ends_with('\n') ? "" : "\n")},
      {"student.py",
       student ? student->text : definition.reference + (definition.reference.ends_with('\n') ? "" : "\n")},
      {"reference.py", side_file("The reference: run() of problem.py, the board's own.", "import problem\n",
                                 parameters, "problem.run" + call)},
      {"kernel.py",
       side_file("The student: run() of student.py.", "import student\n", parameters, "student.run" + call)}};
  return {std::move(card), {}};
}

}  // namespace plumbline
