// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/base/json_locate.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

// Each is held against each other document, and its places are looked up in the text: more would take
// minutes.
constexpr std::size_t kMostWorkloads = 256;
constexpr std::size_t kMostSamples = 20000;  // a side: every interval is drawn from them some thousand times
constexpr std::size_t kMostErrors = 8;       // one broken column is said a few times, not a million

/// "/performance/workloads/1/ratio" as people write it: performance.workloads[1].ratio.
std::string spoken(std::string_view pointer) {
  std::string out;
  for (std::size_t at = 0; at < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    const std::string_view step = pointer.substr(at + 1, end - at - 1);
    if (parse_int(step)) {
      out.append("[").append(step).append("]");
    } else {
      out.append(out.empty() ? "" : ".").append(step);
    }
    at = end;
  }
  return out.empty() ? "the document" : out;
}

/// Reads values by their pointer and says what is wrong with them, once each.
class Reader {
 public:
  Reader(std::string_view text, const OrderedJson& root, EvalReport& report)
      : text_(text), root_(root), report_(report) {}

  const OrderedJson* find(const std::string& pointer) const {
    const OrderedJson::json_pointer at(pointer);
    return root_.contains(at) ? &root_.at(at) : nullptr;
  }

  /// An object, or nullptr when absent or null. Another type is an error.
  const OrderedJson* object(const std::string& pointer) {
    const OrderedJson* value = find(pointer);
    if (!value || value->is_null()) return nullptr;
    if (value->is_object()) return value;
    error("eval-schema", pointer, "is not an object");
    return nullptr;
  }

  std::string text(const std::string& pointer) {
    const OrderedJson* value = find(pointer);
    if (!value || value->is_null()) return {};
    if (value->is_string()) return value->get<std::string>();
    error("eval-schema", pointer, "is not text");
    return {};
  }

  /// A list of texts; empty when absent or null.
  std::vector<std::string> texts(const std::string& pointer) {
    std::vector<std::string> out;
    const OrderedJson* list = find(pointer);
    if (!list || list->is_null()) return out;
    if (!list->is_array()) error("eval-schema", pointer, "is not a list");
    for (std::size_t i = 0; list->is_array() && i < list->size(); ++i) {
      if ((*list)[i].is_string()) out.push_back((*list)[i].get<std::string>());
    }
    return out;
  }

  std::optional<double> number(const std::string& pointer) {
    const OrderedJson* value = find(pointer);
    if (!value || value->is_null()) return {};
    if (value->is_number()) return value->get<double>();
    error("eval-value", pointer,
          fmt::format("is {}, not a number", value->is_string() ? "text" : value->type_name()));
    return {};
  }

  /// A time or a ratio: absent when null, missing or 0; an error when negative.
  std::optional<double> positive(const std::string& pointer) {
    const std::optional<double> value = number(pointer);
    if (value && *value < 0) {
      error("eval-value", pointer, fmt::format("is {}: no time or ratio is negative", format_double(*value)));
    }
    return value && *value > 0 ? value : std::nullopt;
  }

  void error(std::string_view code, const std::string& pointer, std::string_view what) {
    errors.push_back(diagnose(code, fmt::format("{} {}", spoken(pointer), what), at(pointer)));
  }
  void finding(std::string_view code, const std::string& pointer, std::string message) {
    report_.findings.push_back(diagnose(code, std::move(message), at(pointer)));
  }
  Location at(const std::string& pointer) const { return locate_json(text_, pointer, report_.file); }

  Diagnostics errors;

 private:
  std::string_view text_;
  const OrderedJson& root_;
  EvalReport& report_;
};

/// A list of positive numbers; empty when absent. A sample that is null or 0 is an error: it was to be left
/// out.
std::vector<double> read_samples(Reader& in, const std::string& pointer) {
  std::vector<double> samples;
  const OrderedJson* list = in.find(pointer);
  if (!list || list->is_null()) return samples;
  if (!list->is_array()) {
    in.error("eval-schema", pointer, "is not a list");
    return samples;
  }
  if (list->size() > kMostSamples) {
    in.error("eval-schema", pointer,
             fmt::format("holds {} samples, and at most {} are read", list->size(), kMostSamples));
    return samples;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string each = fmt::format("{}/{}", pointer, i);
    if (const auto value = in.positive(each)) {
      samples.push_back(*value);
    } else if ((*list)[i].is_null() || (*list)[i] == 0) {
      in.error("eval-value", each, "is null or 0: a sample without a time is left out, with its partner");
    }
    if (in.errors.size() > kMostErrors) break;
  }
  return samples;
}

SideReading read_side(Reader& in, const std::string& pointer, WindowKind window) {
  SideReading side;
  if (!in.object(pointer)) return side;
  side.pipelined_ms = in.positive(pointer + "/pipelined_ms");
  side.per_call_ms = in.positive(pointer + "/per_call_ms");
  side.withheld = (!side.pipelined_ms && in.find(pointer + "/pipelined_ms")) ||
                  (!side.per_call_ms && in.find(pointer + "/per_call_ms"));
  side.host_tax_ms = in.number(pointer + "/host_tax_ms");
  const std::string per_call = pointer + "/per_call_samples_ms";
  side.samples_ms = read_samples(
      in, window == WindowKind::per_call && in.find(per_call) ? per_call : pointer + "/samples_ms");
  return side;
}

/// What both sides must share, wherever a bench states it side by side.
void hold_same_window(Reader& in, const std::string& pointer, const std::string& name) {
  for (const char* key : {"window", "timer", "clock", "l2", "flush", "batch", "calls_per_block"}) {
    const OrderedJson* student = in.find(fmt::format("{}/student/{}", pointer, key));
    const OrderedJson* ref = in.find(fmt::format("{}/ref/{}", pointer, key));
    if (!student || !ref || *student == *ref) continue;
    in.finding("eval-mixed-window", fmt::format("{}/student/{}", pointer, key),
               fmt::format("workload '{}' was read under another '{}' on each side ({} and {})", name, key,
                           student->dump(), ref->dump()));
  }
}

WorkloadReading read_workload(Reader& in, const std::string& pointer, std::size_t index, WindowKind window) {
  WorkloadReading workload;
  if (!in.object(pointer)) return workload;
  workload.name = in.text(pointer + "/name");
  if (workload.name.empty()) workload.name = fmt::format("#{}", index);
  const OrderedJson* campaign = in.find(pointer + "/campaign");
  workload.campaign = campaign && campaign->is_boolean() && campaign->get<bool>();
  workload.student = read_side(in, pointer + "/student", window);
  workload.ref = read_side(in, pointer + "/ref", window);
  workload.ratio = in.positive(pointer + "/ratio");
  workload.ratio_withheld = !workload.ratio && in.find(pointer + "/ratio");
  const OrderedJson* distinguishable = in.find(pointer + "/distinguishable");
  if (distinguishable && distinguishable->is_boolean())
    workload.distinguishable = distinguishable->get<bool>();
  for (const std::string& reason : in.texts(pointer + "/throttle")) {
    workload.throttle.append(workload.throttle.empty() ? "" : ", ").append(reason);
  }
  workload.aa_ratio = in.positive(pointer + "/aa_ratio");
  hold_same_window(in, pointer, workload.name);
  return workload;
}

void read_workloads(Reader& in, EvalReport& report) {
  const OrderedJson* list = in.find("/performance/workloads");
  if (!list || list->is_null()) return;
  if (!list->is_array()) {
    in.error("eval-schema", "/performance/workloads", "is not a list");
    return;
  }
  report.workloads_listed = true;
  if (list->size() > kMostWorkloads) {
    in.error("eval-schema", "/performance/workloads",
             fmt::format("lists {} workloads, and at most {} are read", list->size(), kMostWorkloads));
    return;
  }
  std::size_t marked = 0;
  for (std::size_t i = 0; i < list->size() && in.errors.size() <= kMostErrors; ++i) {
    report.workloads.push_back(
        read_workload(in, fmt::format("/performance/workloads/{}", i), i, report.timed));
    if (report.workloads.back().campaign && marked++ == 0) report.campaign = i;
  }
  if (marked > 1) {
    in.finding("eval-campaign", "/performance/workloads",
               fmt::format("{} workloads are marked as the campaign's; one is profiled and priced", marked));
  }
}

void read_prep(Reader& in, EvalReport& report) {
  const OrderedJson* prep = in.find("/performance/prep");
  if (!prep || prep->is_null()) return;
  report.prep = std::make_shared<const OrderedJson>(*prep);
  if (!prep->is_object()) return;  // the prep check says so
  report.prep_ms = in.positive("/performance/prep/ms");
  if (report.prep_ms || report.workloads.empty()) return;
  const OrderedJson* list = in.find("/performance/prep/workloads");
  for (std::size_t i = 0; list && list->is_array() && i < list->size(); ++i) {
    const OrderedJson* name = in.find(fmt::format("/performance/prep/workloads/{}/name", i));
    if (name && *name == report.workloads[report.campaign].name) {
      report.prep_ms = in.positive(fmt::format("/performance/prep/workloads/{}/ms", i));
    }
  }
}

void read_report(Reader& in, EvalReport& report) {
  const OrderedJson* version = in.find("/schema_version");
  if (version && *version != 1)
    in.error("eval-schema", "/schema_version", "is not 1, the only version there is");
  report.op = in.text("/op");
  if (in.object("/machine")) report.device = in.text("/machine/gpu");
  if (!in.object("/performance")) {
    if (in.errors.empty())
      in.error("eval-schema", "", "has no 'performance' object: this is not an eval of a bench");
    return;
  }
  report.window = in.text("/performance/window");
  report.timed = window_named(report.window).value_or(WindowKind::pipelined);
  report.student_ms = in.positive("/performance/student_ms");
  report.ref_ms = in.positive("/performance/ref_ms");
  report.ratio = in.positive("/performance/ratio");
  report.ratio_withheld = !report.ratio && in.find("/performance/ratio");
  report.refused = in.texts("/performance/refused");
  if (const auto n = in.number("/performance/n_workloads"); n && *n == std::floor(*n) && std::abs(*n) < 1e9) {
    report.n_workloads = static_cast<std::int64_t>(*n);
  }
  read_workloads(in, report);
  read_prep(in, report);
  const OrderedJson* harness = in.find("/harness");
  if (harness && harness->is_object() && harness->contains("order") && (*harness)["order"] == "AABB") {
    in.finding("eval-order", "/harness/order",
               "one side was read after the other (AABB): a drifting clock favours one");
  }
}

/// Python writes NaN and Infinity, which JSON has not: said as what they are when the syntax error lies in
/// one.
std::optional<Diagnostic> not_finite(std::string_view text, const Diagnostic& syntax) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && in_string) {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    }
    if (in_string || (text[i] != 'N' && text[i] != 'I')) continue;
    const std::string_view word = text[i] == 'N' ? "NaN" : "Infinity";
    if (!text.substr(i).starts_with(word)) continue;
    const TextPosition at = position_at(text, i);
    if (at.line != syntax.line || std::abs(at.column - syntax.column) > 8) return {};
    return diagnose("eval-not-finite", fmt::format("{} is no reading, and no number in JSON", word),
                    {syntax.file, at.line, at.column});
  }
  return {};
}

}  // namespace

std::string_view to_string(WindowKind window) {
  return window == WindowKind::per_call ? "per_call" : "pipelined";
}

std::optional<WindowKind> window_named(std::string_view name) {
  for (const WindowKind kind : {WindowKind::pipelined, WindowKind::per_call}) {
    if (name == to_string(kind)) return kind;
  }
  return {};
}

std::optional<double> reading_of(const SideReading& side, WindowKind window) {
  return window == WindowKind::per_call ? side.per_call_ms : side.pipelined_ms;
}

std::optional<double> ratio_of(const WorkloadReading& workload, WindowKind window) {
  if (workload.ratio || workload.ratio_withheld) return workload.ratio;
  const auto student = reading_of(workload.student, window);
  const auto ref = reading_of(workload.ref, window);
  return student && ref ? std::optional(*ref / *student) : std::nullopt;
}

std::optional<double> geometric_ratio(const EvalReport& report) {
  std::vector<double> ratios;
  for (const WorkloadReading& workload : report.workloads) {
    const auto ratio = ratio_of(workload, report.timed);
    if (!ratio) return {};
    ratios.push_back(*ratio);
  }
  return geometric_mean(ratios);
}

std::optional<double> raw_ratio(const EvalReport& report) {
  return report.ratio || report.ratio_withheld ? report.ratio : geometric_ratio(report);
}

Parsed<EvalReport> parse_eval(std::string_view text, const std::string& file) {
  Parsed<OrderedJson> root = parse_json_ordered(text, file);
  if (!root.ok()) {
    if (const auto word = not_finite(text, root.diagnostics.front())) return failed<EvalReport>(*word);
    return {std::nullopt, std::move(root.diagnostics)};
  }
  if (auto twice = duplicate_key(text, file)) return failed<EvalReport>(*std::move(twice));
  EvalReport report;
  report.file = file;
  report.text = std::make_shared<const std::string>(text);
  Reader in(text, *root.value, report);
  read_report(in, report);
  if (!in.errors.empty()) return {std::nullopt, std::move(in.errors)};
  read_facts(*root.value, report);
  audit_facts(*root.value, report);
  return {std::move(report), {}};
}

Parsed<EvalReport> load_eval(const std::string& path) {
  Parsed<std::string> text = read_text_file(path);
  if (!text.ok()) return {std::nullopt, std::move(text.diagnostics)};
  return parse_eval(*text.value, path);
}

}  // namespace plumbline
