// SPDX-License-Identifier: Apache-2.0
// What an eval says and nobody would read: facts of another type, failures outside a workload's findings, and
// what our harness always writes and this document lacks.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "plumbline/pricing/eval.h"

namespace plumbline {
namespace {

enum class Kind { text, number, flag, list, names, object };

struct Fact {
  std::string_view pointer;
  Kind kind;
  bool always;  ///< our harness has written it in every version, for every workload that it compared
};

constexpr auto kTop = std::to_array<Fact>({
    {"/machine/gpu", Kind::text, true},
    {"/machine/driver", Kind::text, false},
    {"/harness/isolation", Kind::text, true},
    {"/harness/order", Kind::text, true},
    {"/harness/noise", Kind::number, true},
    {"/harness/cold", Kind::flag, false},
    {"/harness/l2", Kind::text, false},
    {"/harness/overhead/launch_floor_us", Kind::number, false},
    {"/harness/overhead/drain_us", Kind::number, false},
    {"/evidence", Kind::object, false},
    {"/evidence/files", Kind::object, false},
    {"/evidence/precision", Kind::object, false},
});
constexpr auto kWorkload = std::to_array<Fact>({
    {"/window", Kind::text, true},
    {"/l2", Kind::text, false},  // eval-warm says that it lacks
    {"/stop", Kind::text, true},
    {"/relative_error", Kind::number, true},
    {"/aa_ratio", Kind::number, true},
    {"/smallest_difference", Kind::number, true},
    {"/distinguishable", Kind::flag, false},
    {"/campaign", Kind::flag, false},
    {"/outputs_checked", Kind::number, false},  // eval-unchecked likewise
    {"/rounds", Kind::number, true},
    {"/rounds_kept_throttled", Kind::number, false},
    {"/rounds_dropped_throttled", Kind::number, false},
    {"/calls_per_window", Kind::number, true},
    {"/set_bytes", Kind::number, true},
    {"/student_drained_us", Kind::number, false},
    {"/sealed_ms", Kind::list, false},
    {"/student_receives", Kind::names, true},
    {"/ref_receives", Kind::names, false},
    {"/graph_captured", Kind::object, false},
    {"/graph_captured/ref", Kind::flag, false},
    {"/graph_captured/student", Kind::flag, false},
    {"/quiet", Kind::object, false},
    {"/parent", Kind::object, false},
});
constexpr auto kSide = std::to_array<Fact>({
    {"/median_ms", Kind::number, false},
    {"/interval_ms", Kind::list, false},
    {"/per_call_samples_ms", Kind::list, false},
    {"/sm_mhz", Kind::number, false},
    {"/temperature_c", Kind::number, false},
});

bool is_of(const OrderedJson& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::number:
      return value.is_number();
    case Kind::flag:
      return value.is_boolean();
    case Kind::list:
      return value.is_array();
    case Kind::names:
      return value.is_array() || value.is_object();
    case Kind::object:
      return value.is_object();
  }
  return false;
}

const OrderedJson* value_at(const OrderedJson& root, const std::string& pointer) {
  const OrderedJson::json_pointer at(pointer);
  return root.contains(at) ? &root.at(at) : nullptr;
}

/// "errors", "refused", …: lists and texts that say that something went wrong. `findings` of a workload are
/// read apart.
constexpr auto kTroubles =
    std::to_array<std::string_view>({"findings", "errors", "error", "failures", "refused"});
constexpr auto kVerdicts = std::to_array<std::string_view>({"correct", "outputs_match", "outputs_correct"});
constexpr auto kOfCorrectness = std::to_array<std::string_view>({"passed", "ok", "correct", "valid"});

class Audit {
 public:
  Audit(const OrderedJson& root, EvalReport& report) : root_(root), report_(report) {}

  void hold(const std::string& base, const Fact& fact) {
    const std::string pointer = base + std::string(fact.pointer);
    const OrderedJson* value = value_at(root_, pointer);
    if (value && !value->is_null() && !is_of(*value, fact.kind)) report_.unread.push_back(pointer);
    if (!value && fact.always && report_.harness.ours()) report_.absent.push_back(pointer);
  }

  void troubles(const std::string& base, bool findings) {
    const OrderedJson* object = base.empty() ? &root_ : value_at(root_, base);
    if (!object || !object->is_object()) return;
    for (const auto& [key, value] : object->items()) {
      const std::string pointer = fmt::format("{}/{}", base, key);
      if (among(kTroubles, key) && (findings || key != "findings")) {
        // performance.refused is read, and judged, by itself
        if (pointer != "/performance/refused" && is_stated(value)) add(pointer, key, value);
      } else if (value == false && among(kVerdicts, key)) {
        add(pointer, key, value);
      } else if (key == "correctness" && value == false) {
        add(pointer, key, value);
      } else if (key == "correctness" && value.is_object()) {
        for (const auto& [inner, word] : value.items()) {
          if (word == false && among(kOfCorrectness, inner)) add(pointer + "/" + inner, inner, word);
        }
      }
    }
  }

 private:
  static bool among(std::span<const std::string_view> names, std::string_view name) {
    for (const std::string_view each : names) {
      if (each == name) return true;
    }
    return false;
  }
  static bool is_stated(const OrderedJson& value) {
    if (value.is_string()) return !value.get_ref<const std::string&>().empty();
    return value.is_boolean() ? value.get<bool>() : value.is_structured() && !value.empty();
  }
  void add(const std::string& pointer, const std::string& key, const OrderedJson& value) {
    report_.failures.push_back({pointer, fmt::format("{}: {}", key, value.dump())});
  }

  const OrderedJson& root_;
  EvalReport& report_;
};

}  // namespace

void audit_facts(const OrderedJson& root, EvalReport& report) {
  Audit audit(root, report);
  for (const Fact& fact : kTop) audit.hold("", fact);
  audit.troubles("", true);
  audit.troubles("/harness", true);
  audit.troubles("/performance", true);
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    const std::string base = fmt::format("/performance/workloads/{}", i);
    const OrderedJson* workload = value_at(root, base);
    if (!workload || !workload->is_object()) continue;
    // What was refused before it was compared has no readings, and its own reasons.
    const bool compared = workload->contains("rounds") || report.workloads[i].ratio.has_value();
    for (const Fact& fact : kWorkload) {
      Fact own = fact;
      own.always = fact.always && compared;
      audit.hold(base, own);
    }
    audit.troubles(base, false);
    for (const char* side : {"/student", "/ref"}) {
      for (const Fact& fact : kSide) audit.hold(base + side, fact);
      audit.troubles(base + side, true);
    }
  }
}

}  // namespace plumbline
