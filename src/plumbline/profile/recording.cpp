// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/recording.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "plumbline/base/json.h"

namespace plumbline {
namespace {

constexpr char kSchema[] = "plumbline-recording/1";

Diagnostic malformed(const std::string& file, std::string what) {
  return diagnose("record-malformed", std::move(what), {file, 0, 0});
}

/// The document, checked as far as it is read below.
Parsed<Json> read(const RecordingText& recording) {
  Parsed<Json> json = parse_json(recording.text, recording.file);
  if (!json.ok()) return failed<Json>(malformed(recording.file, json.diagnostics.front().message));
  if (!json.value->is_object() || json.value->value("schema", Json()) != kSchema) {
    return failed<Json>(malformed(recording.file, fmt::format("this is no {} document", kSchema)));
  }
  for (const char* key : {"pid", "regions", "calls", "dropped", "broken", "launches", "busy_ns", "span_ns"}) {
    if (!json.value->contains(key) || !(*json.value)[key].is_number() || (*json.value)[key].get<double>() < 0)
      return failed<Json>(malformed(recording.file, fmt::format("\"{}\" is not a count", key)));
  }
  for (const char* key : {"kernels", "devices", "streams"}) {
    if (!json.value->contains(key) || !(*json.value)[key].is_array())
      return failed<Json>(malformed(recording.file, fmt::format("\"{}\" is not a list", key)));
  }
  return json;
}

CopyTotals totals(const Json& json) { return {json.value("count", 0LL), json.value("time_ns", 0.0)}; }

/// GPU indices that launched something.
std::set<std::int64_t> launching_devices(const Json& json) {
  std::set<std::int64_t> devices;
  for (const Json& stream : json["streams"]) devices.insert(stream.value("device", 0LL));
  return devices;
}

std::string device_name(const Json& json, std::int64_t id) {
  for (const Json& device : json["devices"]) {
    if (device.value("id", -1LL) == id) return device.value("name", "");
  }
  return {};
}

/// The harness's own launches around a window: its blocking kernel and its stamps.
bool is_harness_kernel(const std::string& name) {
  return name == "plumbline_block" || name == "plumbline_stamp";
}

/// Adds the rows; returns how many launches were the harness's own.
std::int64_t add_kernels(const Json& json, KernelTable& table) {
  std::int64_t in_graphs = 0;
  std::int64_t own = 0;
  for (const Json& kernel : json["kernels"]) {
    if (is_harness_kernel(kernel.value("name", ""))) {
      own += kernel.value("launches", 0LL);
      continue;
    }
    KernelRow row;
    row.name = demangled(kernel.value("name", ""));
    row.launches = kernel.value("launches", 0LL);
    row.time_ns = kernel.value("time_ns", 0.0);
    if (kernel.contains("min_ns")) row.min_ns = kernel.value("min_ns", 0.0);
    if (kernel.contains("max_ns")) row.max_ns = kernel.value("max_ns", 0.0);
    in_graphs += kernel.value("in_graphs", 0LL);
    table.kernels.push_back(std::move(row));
  }
  if (in_graphs > 0) table.notes.push_back(fmt::format("{} launches are nodes of CUDA graphs", in_graphs));
  return own;
}

/// Why this recording gives no table, or none.
std::optional<Diagnostic> refusal(const Json& json, const std::string& file,
                                  const RecordingOptions& options) {
  if (const std::string error = json.value("error", ""); !error.empty())
    return diagnose("record-failed", "nothing was recorded: " + error);
  const std::int64_t lost = json["dropped"].get<std::int64_t>();
  const std::int64_t broken = json["broken"].get<std::int64_t>();
  if (lost + broken > 0) {
    return diagnose("record-lost",
                    fmt::format("{} records were lost and {} launches have no time, of {}", lost, broken,
                                json["launches"].get<std::int64_t>() + lost + broken));
  }
  const auto devices = launching_devices(json);
  if (devices.size() > 1) {
    return diagnose("record-several-devices",
                    fmt::format("{} GPUs launched kernels in the region{}", devices.size(),
                                options.device ? ": record each by itself with "
                                                 "CUDA_VISIBLE_DEVICES"
                                               : ""));
  }
  if (options.device && !devices.empty() && *devices.begin() != *options.device) {
    return diagnose("record-several-devices",
                    fmt::format("the launches are of GPU {}, not {}", *devices.begin(), *options.device));
  }
  for (const Json& kernel : json["kernels"]) {
    if (!kernel.is_object() || !kernel.value("name", Json()).is_string() ||
        !kernel.value("launches", Json()).is_number_integer() || !kernel.value("time_ns", Json()).is_number())
      return malformed(file, "a kernel lacks its name, launches or time");
  }
  return std::nullopt;
}

KernelTable to_table(const Json& json, const RecordingOptions& options) {
  KernelTable table;
  table.source = "recorder";
  table.region = json.value("region", "profiler");
  table.calls = options.calls;
  if (!table.calls && json["calls"].get<std::int64_t>() > 0) table.calls = json["calls"].get<std::int64_t>();
  const std::int64_t own = add_kernels(json, table);
  const auto devices = launching_devices(json);
  if (!devices.empty()) table.device = device_name(json, *devices.begin());
  table.busy_ns = json["busy_ns"].get<double>();
  table.gaps_ns = json["span_ns"].get<double>() - *table.busy_ns;
  table.streams = static_cast<std::int64_t>(json["streams"].size());
  if (json.contains("memcpy") && json["memcpy"].is_object()) table.memcpy = totals(json["memcpy"]);
  if (json.contains("memset") && json["memset"].is_object()) table.memset = totals(json["memset"]);
  const std::int64_t kept = json["launches"].get<std::int64_t>() - own;
  const std::int64_t other =
      (table.memcpy ? table.memcpy->count : 0) + (table.memset ? table.memset->count : 0);
  table.account = {kept + own + other, kept, 0, own + other};
  if (json["regions"].get<std::int64_t>() > 1)
    table.notes.push_back(fmt::format("{} regions were recorded", json["regions"].get<std::int64_t>()));
  finish_table(table);
  table.overlap_ns = table.total_ns - *table.busy_ns;
  return table;
}

}  // namespace

Parsed<KernelTable> table_of_recordings(const std::vector<RecordingText>& recordings,
                                        const RecordingOptions& options) {
  std::optional<Json> chosen;
  std::string file;
  std::optional<Diagnostic> trouble;
  for (const RecordingText& recording : recordings) {
    Parsed<Json> json = read(recording);
    if (!json.ok()) return {std::nullopt, json.diagnostics};
    const bool launched = (*json.value)["launches"].get<std::int64_t>() > 0;
    if (!launched) {
      // A process without launches matters only when it says why and nobody else recorded anything.
      if (!json.value->value("error", "").empty() && !trouble)
        trouble = refusal(*json.value, recording.file, options);
      continue;
    }
    if (chosen) {
      return failed<KernelTable>(diagnose(
          "record-several-processes",
          fmt::format("processes {} and {} both launched kernels in the region",
                      (*chosen)["pid"].get<std::int64_t>(), (*json.value)["pid"].get<std::int64_t>())));
    }
    chosen = std::move(*json.value);
    file = recording.file;
  }
  if (!chosen) {
    return failed<KernelTable>(
        trouble ? *trouble : diagnose("record-no-region", "no kernel was launched in the profiled region"));
  }
  if (const auto refused = refusal(*chosen, file, options)) return failed<KernelTable>(*refused);
  KernelTable table = to_table(*chosen, options);
  if (table.calls) {
    for (const KernelRow& row : table.kernels) {
      if (row.launches % *table.calls == 0) continue;
      table.notes.push_back(fmt::format("{} was launched {} times, not a multiple of {} calls", row.identity,
                                        row.launches, *table.calls));
    }
  }
  return {std::move(table), {}};
}

}  // namespace plumbline
