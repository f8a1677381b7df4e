// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/prep_report.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plumbline/contract/name_set.h"

namespace plumbline {
namespace {

/// Spelling and meaning, from the contract's specification; any other name means itself.
constexpr auto kAliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float64", "fp64"},
    {"double", "fp64"},
    {"float8_e4m3fn", "e4m3"},
    {"float8_e5m2", "e5m2"},
    {"int64", "i64"},
    {"long", "i64"},
    {"int32", "i32"},
    {"int", "i32"},
    {"int16", "i16"},
    {"int8", "i8"},
    {"uint8", "u8"},
});

std::string dumped(const OrderedJson& value) {
  return printable(value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

std::string listed(std::vector<std::string> names) {
  constexpr std::size_t kMost = 20;
  if (names.empty()) return "nothing";
  const std::size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

const OrderedJson* member(const OrderedJson& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// The reported shape; a missing or null one counts as [].
OrderedJson reported_shape(const OrderedJson& output) {
  const OrderedJson* shape = member(output, "shape");
  return shape == nullptr || shape->is_null() ? OrderedJson::array() : *shape;
}

bool same_shape(const OrderedJson& reported, const std::vector<std::int64_t>& declared) {
  if (!reported.is_array() || reported.size() != declared.size()) return false;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (!reported[i].is_number_integer() || reported[i] != declared[i]) return false;
  }
  return true;
}

/// The reported dtype as it stands; a missing or null one counts as "".
std::string reported_dtype(const OrderedJson& output) {
  const OrderedJson* dtype = member(output, "dtype");
  if (dtype == nullptr || dtype->is_null()) return {};
  return dtype->is_string() ? dtype->get<std::string>() : dumped(*dtype);
}

/// Problems of all blocks: one with the same text is kept once, with the workloads that showed it.
class Problems {
 public:
  Problems(const WindowContract& contract, std::string file) : contract_(contract), file_(std::move(file)) {}

  /// Holds one block; `tag` names its workload, "" for the only one.
  void hold(const std::vector<const Asymmetry*>& entries, const OrderedJson& block, const std::string& tag) {
    tag_ = tag;
    const OrderedJson* outputs = member(block, "outputs");
    if (outputs == nullptr || !outputs->is_object()) {
      add("prep-unreported", {},
          "the eval does not report what prep made (performance.prep.outputs is not an object); the bench "
          "must "
          "report it, "
          "no edit of the student heals this");
      return;
    }
    hold_mutated(block);
    NameSet declared;
    for (const Asymmetry* entry : entries) {
      declared.insert(entry->name.text);
      hold_entry(*entry, *outputs);
    }
    for (const auto& [name, output] : outputs->items()) {
      if (declared.has(name)) continue;
      add("prep-undeclared", name,
          fmt::format("prep made {} (shape {}, dtype {}), which the contract does not declare: symmetrize it "
                      "there, or "
                      "do its work inside the window",
                      in_quotes(name), dumped(reported_shape(output)), in_quotes(reported_dtype(output))));
    }
  }

  Findings take() {
    for (Finding& finding : findings_) {
      if (finding.workloads.empty()) continue;
      std::string names;
      for (const std::string& workload : finding.workloads) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(workload));
      }
      finding.diagnostic.message +=
          fmt::format(" (workload{} {})", finding.workloads.size() == 1 ? "" : "s", cut_middle(names, 200));
    }
    return std::move(findings_);
  }

 private:
  /// `place` says where the contract declares it; it is not part of what makes two problems the same. Only
  /// several workloads are merged: a single block says each problem of each entry.
  void add(std::string_view code, const std::string& name, const std::string& message,
           const std::string& place = {}) {
    const std::string key = fmt::format("{}\n{}\n{}", code, name, message);
    const auto known = tag_.empty() ? index_.end() : index_.find(key);
    if (known != index_.end()) {
      findings_[known->second].workloads.push_back(tag_);
      return;
    }
    index_.emplace(key, findings_.size());
    Finding& finding = findings_.emplace_back(Finding{diagnose(code, message + place, {file_, 0, 0})});
    finding.name = name;
    if (!tag_.empty()) finding.workloads.push_back(tag_);
  }

  void hold_mutated(const OrderedJson& block) {
    const OrderedJson* mutated = member(block, "mutated");
    if (mutated == nullptr || !mutated->is_array() || mutated->empty()) return;
    add("prep-mutated", {},
        fmt::format("the timed call changed what prep made: {}; the next call read other inputs",
                    dumped(*mutated)));
  }

  /// Where the contract declares it, to follow a message.
  std::string declared_at(TextPosition at) const {
    return fmt::format(" (declared at {}:{})", contract_.file, at.line);
  }

  void hold_entry(const Asymmetry& entry, const OrderedJson& outputs) {
    const std::string& name = entry.name.text;
    const auto output = outputs.find(name);
    if (output == outputs.end() || !output->is_object()) {
      std::vector<std::string> names;
      for (const auto& item : outputs.items()) names.push_back(in_quotes(item.key()));
      std::sort(names.begin(), names.end());
      add("prep-missing", name,
          fmt::format("prep did not make {}; it made {}", in_quotes(name), listed(names)),
          declared_at(entry.name.at));
      return;
    }
    const std::vector<std::int64_t>& shape = declared_shape(entry);
    const OrderedJson reported = reported_shape(*output);
    if (!shape.empty() && !same_shape(reported, shape)) {
      add("prep-shape", name,
          fmt::format("prep made {} with shape {}; the contract says [{}]", in_quotes(name), dumped(reported),
                      fmt::join(shape, ",")),
          declared_at(entry.shape_at));
    }
    const std::string dtype = reported_dtype(*output);
    if (!entry.dtype.empty() && normal_dtype(dtype) != normal_dtype(entry.dtype.text)) {
      add("prep-dtype", name,
          fmt::format("prep made {} with dtype {}; the contract says {}", in_quotes(name), in_quotes(dtype),
                      in_quotes(entry.dtype.text)),
          declared_at(entry.dtype.at));
    }
  }

  const std::vector<std::int64_t>& declared_shape(const Asymmetry& entry) const {
    for (const WorkloadShape& own : entry.workload_shapes) {
      if (own.workload == tag_) return own.shape;
    }
    return entry.shape;
  }

  const WindowContract& contract_;
  std::string file_;
  std::string tag_;
  Findings findings_;
  std::unordered_map<std::string, std::size_t> index_;  // full text -> findings_
};

/// A workload's name, or its place in the list.
std::string tag_of(const OrderedJson& workload, std::size_t index) {
  const OrderedJson* name = member(workload, "name");
  if (name != nullptr && name->is_string() && !name->get_ref<const std::string&>().empty()) {
    return name->get<std::string>();
  }
  return name != nullptr && name->is_number() ? dumped(*name) : std::to_string(index);
}

}  // namespace

std::string normal_dtype(std::string_view dtype) {
  std::string name = to_lower(trim(dtype));
  if (name.starts_with("torch.")) name.erase(0, 6);
  const auto alias =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const auto& a) { return a.first == name; });
  return alias == kAliases.end() ? name : std::string(alias->second);
}

Findings check_prep_report(const WindowContract& contract, const OrderedJson& report,
                           const std::string& file) {
  const std::vector<const Asymmetry*> entries = prep_entries(contract);
  if (!contract.declared() || entries.empty()) return {};
  Problems problems(contract, file);
  const OrderedJson* workloads = member(report, "workloads");
  if (workloads != nullptr && workloads->is_array() && !workloads->empty()) {
    for (std::size_t i = 0; i < workloads->size(); ++i) {
      problems.hold(entries, (*workloads)[i], tag_of((*workloads)[i], i));
    }
  } else {
    problems.hold(entries, report, {});
  }
  return problems.take();
}

}  // namespace plumbline
