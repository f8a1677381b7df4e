// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/arch_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/arch_json.h"

namespace plumbline {
namespace {

/// Thrown inside this file alone when an artifact lacks what its schema promises.
struct Malformed {
  std::string what;
};

const Json& field(const Json& object, const std::string& key, Json::value_t type, const std::string& where) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || it == object.end())
    throw Malformed{fmt::format("{}: '{}' is missing", where, key)};
  const bool number = type == Json::value_t::number_float && it->is_number();
  if (!number && it->type() != type)
    throw Malformed{fmt::format("{}: '{}' is of the wrong kind", where, key)};
  return *it;
}

const Json& list(const Json& object, const std::string& key, const std::string& where) {
  return field(object, key, Json::value_t::array, where);
}

std::string text(const Json& object, const std::string& key, const std::string& where) {
  return field(object, key, Json::value_t::string, where).get<std::string>();
}

double latency(const Json& object, const std::string& key, const std::string& where) {
  const double ms = field(object, key, Json::value_t::number_float, where).get<double>();
  if (!std::isfinite(ms) || ms <= 0)
    throw Malformed{fmt::format("{}: '{}' is not a time above 0", where, key)};
  return ms;
}

void add_layer(Artifact& out, const std::string& hardware, const Json& entry, std::string shape) {
  const std::string name = text(entry, "name", "comparison");
  out.entries.push_back({hardware, name, "", latency(entry, "total_ms", name), std::move(shape)});
  const Json& kernels = field(entry, "per_kernel", Json::value_t::object, name);
  for (const auto& [kernel, ms] : kernels.items()) {
    if (!ms.is_number()) throw Malformed{fmt::format("{}: kernel '{}' has no time", name, kernel)};
    out.entries.push_back({hardware, name, kernel, ms.get<double>(), ""});
  }
}

void add_sweep_point(Artifact& out, const std::string& hardware, const std::string& dimension,
                     const std::string& value_key, const Json& point, const std::string& base) {
  const Json& value = field(point, value_key, Json::value_t::number_float, dimension);
  out.entries.push_back({hardware, fmt::format("{}={}", dimension, write_json_line(value)), "",
                         latency(point, "total_ms", dimension), base});
}

void add_rankings(Artifact& out, const std::string& hardware, const Json& rankings) {
  for (const auto& [metric, order] : rankings.items()) {
    std::int64_t rank = 0;
    for (const Json& each : order)
      out.ranks.push_back({hardware, metric, text(each, "name", metric), ++rank});
  }
}

Artifact read_noeris(const Json& root) {
  Artifact out{"noeris-1", {}, {}};
  const std::string hardware = text(root, "hardware", "artifact");
  for (const Json& entry : list(root, "comparison", "artifact")) {
    add_layer(out, hardware, entry,
              write_json_line(field(entry, "config", Json::value_t::object, "comparison")));
  }
  for (const auto& [dimension, cliff] :
       field(root, "kernel_cliffs", Json::value_t::object, "artifact").items()) {
    const std::string base = write_json_line(cliff.value("base_config", Json()));
    for (const Json& point : list(cliff, "values", dimension)) {
      add_sweep_point(out, hardware, dimension, dimension, point, base);
    }
  }
  add_rankings(out, hardware, field(root, "rankings", Json::value_t::object, "artifact"));
  return out;
}

Artifact read_own(const Json& root) {
  Artifact out{std::string(kArchSchema), {}, {}};
  std::vector<std::string> shapes;
  for (const Json& layer : list(root, "layers", "artifact")) shapes.push_back(write_json_line(layer));
  for (const Json& gpu : list(root, "hardware", "artifact")) {
    const std::string hardware = text(gpu, "name", "hardware");
    const Json& comparison = list(gpu, "comparison", hardware);
    if (comparison.size() != shapes.size())
      throw Malformed{hardware + ": comparison and layers differ in length"};
    for (std::size_t i = 0; i < comparison.size(); ++i) add_layer(out, hardware, comparison[i], shapes[i]);
    for (const Json& sweep : list(gpu, "kernel_cliffs", hardware)) {
      const std::string dimension = text(sweep, "dimension", "kernel_cliffs");
      const std::string base = write_json_line(field(sweep, "base", Json::value_t::object, dimension));
      for (const Json& point : list(sweep, "values", dimension)) {
        add_sweep_point(out, hardware, dimension, "value", point, base);
      }
    }
    add_rankings(out, hardware, field(gpu, "rankings", Json::value_t::object, hardware));
  }
  return out;
}

std::string key_of(const ArtifactEntry& e) { return e.hardware + '\n' + e.name + '\n' + e.kernel; }
std::string key_of(const ArtifactRank& r) { return r.hardware + '\n' + r.metric + '\n' + r.name; }

/// Entries by key. The n-th of equal keys gets its own, so that layers of one name are paired in order.
template <class T>
std::map<std::string, const T*> keyed(const std::vector<T>& all) {
  std::map<std::string, const T*> result;
  std::map<std::string, int> seen;
  for (const T& each : all) {
    std::string key = key_of(each);
    const int n = seen[key]++;
    if (n > 0) key += fmt::format("\n{}", n + 1);
    result.emplace(std::move(key), &each);
  }
  return result;
}

void note_missing(const std::vector<ArtifactEntry>& all,
                  const std::map<std::string, const ArtifactEntry*>& other, std::vector<std::string>& out) {
  for (const auto& [key, entry] : keyed(all)) {
    if (entry->kernel.empty() && !other.contains(key)) {
      out.push_back(fmt::format("{} {}", entry->hardware, entry->name));
    }
  }
}

}  // namespace

Parsed<Artifact> parse_artifact(std::string_view source, const std::string& file) {
  auto document = parse_json(source, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  if (auto twice = duplicate_key(source, file)) return failed<Artifact>(*std::move(twice));
  const Json& root = *document.value;
  const bool own = root.is_object() && root.value("schema", Json()) == kArchSchema;
  const bool noeris = root.is_object() && root.value("experiment", Json()) == "kernel_aware_nas";
  if (!own && !noeris) {
    return failed<Artifact>(diagnose(
        "artifact-unknown", "neither an arch report nor the original script's report", {file, 1, 1}));
  }
  const Json version = root.value("schema_version", Json());
  if (!version.is_number_integer() || version.get<std::int64_t>() < 1 ||
      version.get<std::int64_t>() > (own ? kArchSchemaVersion : 1)) {
    return failed<Artifact>(
        diagnose("artifact-version",
                 fmt::format("schema_version is {}, and at most {} is understood",
                             printable(write_json_line(version)), own ? kArchSchemaVersion : 1),
                 {file, 1, 1}));
  }
  try {
    return {own ? read_own(root) : read_noeris(root), {}};
  } catch (const Malformed& malformed) {
    return failed<Artifact>(diagnose("artifact-malformed", printable(malformed.what), {file, 1, 1}));
  } catch (const nlohmann::json::exception& error) {
    return failed<Artifact>(diagnose("artifact-malformed", printable(error.what()), {file, 1, 1}));
  }
}

ArtifactComparison compare_artifacts(const Artifact& a, const Artifact& b) {
  ArtifactComparison result;
  const bool same_schema = a.schema == b.schema;  // shapes are spelled by schema
  const auto before = keyed(a.entries);
  const auto after = keyed(b.entries);
  for (const auto& [key, old] : before) {
    const auto it = after.find(key);
    if (it == after.end()) continue;
    const ArtifactEntry& now = *it->second;
    if (old->kernel.empty()) ++result.compared;
    const bool shape_changed = same_schema && old->shape != now.shape;
    if (old->ms == now.ms && !shape_changed) continue;
    const double pct = old->ms > 0 ? (now.ms / old->ms - 1.0) * 100.0 : 0.0;
    auto& moved = old->kernel.empty() ? result.moved : result.kernels;
    moved.push_back({old->hardware, old->name, old->kernel, old->ms, now.ms, pct, shape_changed});
    if (old->kernel.empty()) result.largest_pct = std::max(result.largest_pct, std::abs(pct));
  }
  for (auto* moved : {&result.moved, &result.kernels}) {
    std::stable_sort(moved->begin(), moved->end(),
                     [](const Moved& x, const Moved& y) { return std::abs(x.pct) > std::abs(y.pct); });
  }
  note_missing(b.entries, before, result.added);
  note_missing(a.entries, after, result.gone);
  const auto places = keyed(b.ranks);
  for (const auto& [key, old] : keyed(a.ranks)) {
    const auto it = places.find(key);
    if (it == places.end() || it->second->rank == old->rank) continue;
    result.ranks.push_back({old->hardware, old->metric, old->name, old->rank, it->second->rank});
  }
  return result;
}

}  // namespace plumbline
