// SPDX-License-Identifier: Apache-2.0
// What an eval says beside its readings.
#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/pricing/eval.h"

namespace plumbline {
namespace {

const OrderedJson* member(const OrderedJson* from, const char* key) {
  if (!from || !from->is_object()) return nullptr;
  const auto it = from->find(key);
  return it == from->end() || it->is_null() ? nullptr : &*it;
}

std::string text_of(const OrderedJson* from, const char* key) {
  const OrderedJson* value = member(from, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<double> number_of(const OrderedJson* from, const char* key) {
  const OrderedJson* value = member(from, key);
  if (!value || !value->is_number()) return {};
  const double number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> count_of(const OrderedJson* from, const char* key) {
  const auto number = number_of(from, key);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 9e15) return {};
  return static_cast<std::int64_t>(*number);
}

std::optional<bool> flag_of(const OrderedJson* from, const char* key) {
  const OrderedJson* value = member(from, key);
  return value && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

std::optional<Interval> interval_of(const OrderedJson* from, const char* key) {
  const OrderedJson* value = member(from, key);
  if (!value || !value->is_array() || value->size() != 2) return {};
  if (!(*value)[0].is_number() || !(*value)[1].is_number()) return {};
  return Interval{(*value)[0].get<double>(), (*value)[1].get<double>()};
}

std::vector<double> positives_of(const OrderedJson* from, const char* key) {
  std::vector<double> out;
  const OrderedJson* list = member(from, key);
  if (!list || !list->is_array()) return out;
  for (const OrderedJson& each : *list) {
    if (each.is_number() && each.get<double>() > 0) out.push_back(each.get<double>());
  }
  return out;
}

std::optional<std::vector<std::string>> names_of(const OrderedJson* from, const char* key) {
  const OrderedJson* list = member(from, key);
  if (!list) return {};
  std::vector<std::string> out;
  if (list->is_object()) {  // tensors by their names
    for (const auto& [name, value] : list->items()) out.push_back(name);
    return out;
  }
  if (!list->is_array()) return {};
  for (const OrderedJson& each : *list) {
    if (each.is_string()) out.push_back(each.get<std::string>());
  }
  return out;
}

/// Values as they are written, so that true and "true" differ.
std::map<std::string, std::string> texts_of(const OrderedJson* from) {
  std::map<std::string, std::string> out;
  if (!from || !from->is_object()) return out;
  for (const auto& [key, value] : from->items())
    out[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return out;
}

/// One line of JSON by sorted keys. 8192, 8192.0 and "8192" are one size.
std::string shape_text(const OrderedJson& shape) {
  Json sorted = Json::object();
  for (const auto& [key, value] : shape.items()) {
    const auto number = value.is_number()   ? std::optional(value.get<double>())
                        : value.is_string() ? parse_double(value.get<std::string>())
                                            : std::nullopt;
    if (number && *number == std::floor(*number) && std::abs(*number) < 9e15) {
      sorted[key] = static_cast<std::int64_t>(*number);
    } else {
      sorted[key] = Json::parse(value.dump());
    }
  }
  return sorted.dump();
}

void read_side_facts(const OrderedJson* workload, const char* key, SideReading& side) {
  const OrderedJson* from = member(workload, key);
  side.per_call_samples_ms = positives_of(from, "per_call_samples_ms");
  side.median_ms = number_of(from, "median_ms");
  side.interval_ms = interval_of(from, "interval_ms");
  side.sm_mhz = number_of(from, "sm_mhz");
  side.temperature_c = number_of(from, "temperature_c");
  const bool ref = key[0] == 'r';
  side.parent_ms = number_of(member(workload, "parent"), ref ? "ref_ms" : "student_ms");
  side.output_error = number_of(member(workload, "output_error"), ref ? "reference" : "student");
  side.graph_captured = flag_of(member(workload, "graph_captured"), key);
  side.receives = names_of(workload, ref ? "ref_receives" : "student_receives");
}

void read_workload_facts(const OrderedJson* from, WorkloadReading& w) {
  read_side_facts(from, "student", w.student);
  read_side_facts(from, "ref", w.ref);
  w.window = text_of(from, "window");
  // Sorted keys: the order in which a bench writes a shape does not make another shape of it.
  if (const OrderedJson* shape = member(from, "shape"); shape && shape->is_object() && !shape->empty())
    w.shape = shape_text(*shape);
  w.draws = member(from, "draws") != nullptr;
  if (const OrderedJson* list = member(from, "findings"); list && !list->is_array()) {
    if (!list->empty()) w.findings.push_back({text_of(list, "code"), list->dump()});
  } else if (list) {
    for (const OrderedJson& each : *list) {
      const std::string code = text_of(&each, "code");
      const std::string message = text_of(&each, "message");
      w.findings.push_back({code, message.empty() ? each.dump() : message});
    }
  }
  w.ratio_interval = interval_of(from, "ratio_interval");
  w.smallest_difference = number_of(from, "smallest_difference");
  w.relative_error = number_of(from, "relative_error");
  w.stop = text_of(from, "stop");
  w.l2 = text_of(from, "l2");
  w.outputs_checked = count_of(from, "outputs_checked");
  w.rounds = count_of(from, "rounds");
  w.rounds_dropped_throttled = count_of(from, "rounds_dropped_throttled");
  w.rounds_kept_throttled = count_of(from, "rounds_kept_throttled");
  w.calls_per_window = count_of(from, "calls_per_window");
  w.set_bytes = number_of(from, "set_bytes");
  w.drained_us = number_of(from, "student_drained_us");
  w.sealed_ms = positives_of(from, "sealed_ms");
  w.quiet_before_ms = number_of(member(from, "quiet"), "before_ms");
  w.quiet_after_ms = number_of(member(from, "quiet"), "after_ms");
}

}  // namespace

void read_facts(const OrderedJson& root, EvalReport& report) {
  report.driver = text_of(member(&root, "machine"), "driver");
  const OrderedJson* harness = member(&root, "harness");
  report.harness.name = text_of(harness, "name");
  report.harness.version = text_of(harness, "version");
  report.harness.isolation = text_of(harness, "isolation");
  report.harness.l2 = text_of(harness, "l2");
  report.harness.order = text_of(harness, "order");
  report.harness.cold = flag_of(harness, "cold");
  report.harness.noise = number_of(harness, "noise");
  const OrderedJson* overhead = member(harness, "overhead");
  report.harness.launch_floor_us = number_of(overhead, "launch_floor_us");
  report.harness.drain_us = number_of(overhead, "drain_us");

  if (const OrderedJson* evidence = member(&root, "evidence"); evidence && evidence->is_object()) {
    EvalOrigin& origin = report.origin.emplace();
    origin.card = text_of(evidence, "card");
    origin.harness_version = text_of(evidence, "harness_version");
    origin.files = texts_of(member(evidence, "files"));
    const OrderedJson* precision = member(evidence, "precision");
    origin.ref_precision = texts_of(member(precision, "ref"));
    origin.student_precision = texts_of(member(precision, "student"));
  }
  const OrderedJson* list = member(member(&root, "performance"), "workloads");
  for (std::size_t i = 0; list && list->is_array() && i < report.workloads.size(); ++i)
    read_workload_facts(&(*list)[i], report.workloads[i]);
}

}  // namespace plumbline
