// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "plumbline/base/hash.h"
#include "plumbline/base/text.h"
#include "plumbline/ledger/hex.h"

namespace plumbline::ledger {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostReadings = 10'000;

/// Collects fields so that no two records collect to the same bytes: each with its length before it.
class Collector {
 public:
  void add(std::string_view text) {
    const std::uint64_t size = text.size();
    char length[sizeof size];
    std::memcpy(length, &size, sizeof size);
    all_.append(length, sizeof size).append(text);
  }
  void add(const std::optional<double>& value) {
    if (!value) return add(std::string_view());
    char raw[sizeof(double)];
    std::memcpy(raw, &*value, sizeof raw);
    add(std::string_view(raw, sizeof raw));
  }
  std::string_view all() const { return all_; }

 private:
  std::string all_;
};

struct NumberField {
  const char* name;
  std::optional<double> RunRecord::*at;
};
constexpr auto kNumbers = std::to_array<NumberField>({{"gate", &RunRecord::gate},
                                                      {"raw_ratio", &RunRecord::raw_ratio},
                                                      {"raw_low", &RunRecord::raw_low},
                                                      {"raw_high", &RunRecord::raw_high},
                                                      {"credited_ratio", &RunRecord::credited_ratio},
                                                      {"credited_low", &RunRecord::credited_low},
                                                      {"credited_high", &RunRecord::credited_high},
                                                      {"student_ms", &RunRecord::student_ms},
                                                      {"ref_ms", &RunRecord::ref_ms},
                                                      {"prep_ms", &RunRecord::prep_ms},
                                                      {"sm_mhz", &RunRecord::sm_mhz}});
struct TextField {
  const char* name;
  std::string RunRecord::*at;
};
constexpr auto kTexts = std::to_array<TextField>({{"ident", &RunRecord::ident},
                                                  {"card", &RunRecord::card},
                                                  {"made_at", &RunRecord::made_at},
                                                  {"name", &RunRecord::name},
                                                  {"outcome", &RunRecord::outcome},
                                                  {"corrects", &RunRecord::corrects},
                                                  {"note", &RunRecord::note}});
struct SeriesField {
  const char* name;
  std::string Series::*at;
};
constexpr auto kSeries = std::to_array<SeriesField>({{"gpu", &Series::gpu},
                                                     {"driver", &Series::driver},
                                                     {"window", &Series::timed},
                                                     {"harness", &Series::harness},
                                                     {"boundary", &Series::boundary}});

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Reads the document field by field; the first thing wrong is kept.
class Reader {
 public:
  explicit Reader(const Location& where) : where_(where) {}

  void text(const Json& from, const char* name, std::string& into) {
    const auto found = from.find(name);
    if (found == from.end()) return;
    if (!found->is_string()) return wrong(fmt::format("{} is not a text", name));
    into = found->get<std::string>();
    // A NUL would end the text in PostgreSQL.
    if (into.size() > kLongestText || into.find('\0') != std::string::npos)
      wrong(fmt::format("{} is longer than {} bytes or holds a NUL", name, kLongestText));
  }
  void number(const Json& from, const char* name, std::optional<double>& into) {
    const auto found = from.find(name);
    if (found == from.end() || found->is_null()) return;
    if (!found->is_number() || !std::isfinite(found->get<double>()))
      return wrong(fmt::format("{} is not a finite number", name));
    into = found->get<double>();
  }
  const Json* object(const Json& from, const char* name) {
    const auto found = from.find(name);
    if (found != from.end() && found->is_object()) return &*found;
    wrong(fmt::format("{} is not an object", name));
    return nullptr;
  }
  void hashes(const Json& from, const char* name, std::map<std::string, std::string>& into) {
    const Json* list = object(from, name);
    if (list == nullptr) return;
    for (const auto& [key, value] : list->items()) {
      const std::string hash = value.is_string() ? value.get<std::string>() : "";
      if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
        return wrong(fmt::format("{} of {} is not a SHA-256", printable(key), name));
      into[key] = hash;
    }
  }
  void wrong(std::string words) {
    if (!problem_) problem_ = diagnose("ledger-line", std::move(words), where_);
  }
  const std::optional<Diagnostic>& problem() const { return problem_; }

 private:
  const Location& where_;
  std::optional<Diagnostic> problem_;
};

void read_readings(const Json& json, Reader& read, std::vector<Reading>& out) {
  const auto list = json.find("readings");
  if (list == json.end() || !list->is_array() || list->size() > kMostReadings)
    return read.wrong("readings is not a list of workloads");
  for (const Json& item : *list) {
    if (!item.is_object()) return read.wrong("a reading is not an object");
    Reading& reading = out.emplace_back();
    read.text(item, "workload", reading.workload);
    read.text(item, "shape", reading.shape);
    read.number(item, "student_ms", reading.student_ms);
    read.number(item, "ref_ms", reading.ref_ms);
    read.number(item, "ratio", reading.ratio);
    read.number(item, "noise", reading.noise);
    for (const Reading& other : out) {
      if (&other != &reading && other.workload == reading.workload && other.shape == reading.shape)
        return read.wrong(fmt::format("workload '{}' appears twice", printable(reading.workload)));
    }
  }
}

void check_meaning(const RunRecord& record, Reader& read) {
  if (record.ident.size() != 32 || record.ident.find_first_not_of("0123456789abcdef") != std::string::npos)
    read.wrong("ident is not 32 hexadecimal digits");
  if (record.card.empty()) read.wrong("the run names no card");
  if (record.made_at.size() != 20 || record.made_at.back() != 'Z')
    read.wrong("made_at is not a time like 2026-12-03T01:02:03Z");
  if (std::find(kOutcomes.begin(), kOutcomes.end(), record.outcome) == kOutcomes.end())
    read.wrong(fmt::format("'{}' is not an outcome", printable(record.outcome)));
  if (!may_carry_numbers(record.outcome) && record.raw_ratio)
    read.wrong(fmt::format("a run that came to '{}' carries a ratio", record.outcome));
  for (const auto& [kind, hash] : record.parts) {
    if (std::find(kParts.begin(), kParts.end(), kind) == kParts.end())
      read.wrong(fmt::format("'{}' is not a kind of part", printable(kind)));
  }
}

}  // namespace

bool is_reading(std::string_view outcome) {
  return outcome == "pass" || outcome == "fail-gate" || outcome == "within-noise";
}
bool may_carry_numbers(std::string_view outcome) { return is_reading(outcome) || outcome == "fail-prep"; }

bool Series::operator<(const Series& other) const {
  return std::tie(gpu, driver, timed, harness, boundary) <
         std::tie(other.gpu, other.driver, other.timed, other.harness, other.boundary);
}

std::vector<std::string> apart(const Series& a, const Series& b) {
  std::vector<std::string> out;
  const auto shown = [](const std::string& text) { return text.empty() ? "not stated" : printable(text); };
  for (const SeriesField& field : kSeries) {
    if (a.*field.at == b.*field.at) continue;
    if (field.at == &Series::boundary) {
      out.emplace_back("what the sides receive and make differs");
    } else {
      out.push_back(fmt::format("{}: {} and {}", field.at == &Series::gpu ? "GPU" : field.name,
                                shown(a.*field.at), shown(b.*field.at)));
    }
  }
  return out;
}

std::string Code::manifest() const { return write_json_line(Json(files)); }

void name_code(Code& code) {
  const auto hash_of = [&](const char* path) {
    const auto found = code.files.find(path);
    return found == code.files.end() ? std::string() : found->second;
  };
  code.contract = hash_of("window.toml");
  code.bench = hash_of("eval/bench.py");
  code.reference = hash_of("reference.py");
  std::string joined;
  std::vector<std::string> hashes;
  for (const auto& [path, hash] : code.files) {
    if (path == "window.toml" || path == "reference.py" || path.starts_with("eval/")) continue;
    hashes.push_back(hash);
    joined += path + " " + hash + "\n";
  }
  code.student = hashes.empty() ? "" : hashes.size() == 1 ? hashes.front() : sha256_hex(joined);
}

std::string digest(const RunRecord& record) {
  Collector all;
  for (const TextField& field : kTexts) all.add(record.*field.at);
  for (const SeriesField& field : kSeries) all.add(record.series.*field.at);
  for (const NumberField& field : kNumbers) all.add(record.*field.at);
  for (const auto& [path, hash] : record.code.files) {
    all.add(path);
    all.add(hash);
  }
  all.add("parts");
  for (const auto& [kind, hash] : record.parts) {
    all.add(kind);
    all.add(hash);
  }
  all.add("readings");
  // The database keeps them in an order of its own.
  std::vector<Reading> readings = record.readings;
  std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
    return std::tie(a.workload, a.shape) < std::tie(b.workload, b.shape);
  });
  for (const Reading& r : readings) {
    all.add(r.workload);
    all.add(r.shape);
    for (const auto* value : {&r.student_ms, &r.ref_ms, &r.ratio, &r.noise}) all.add(*value);
  }
  return from_hex(sha256_hex(all.all()));
}

Json to_json(const RunRecord& record) {
  Json out = Json::object();
  for (const TextField& field : kTexts) out[field.name] = record.*field.at;
  for (const NumberField& field : kNumbers) out[field.name] = number(record.*field.at);
  Json& series = out["series"] = Json::object();
  for (const SeriesField& field : kSeries) series[field.name] = record.series.*field.at;
  out["code"] = record.code.files;
  out["parts"] = record.parts;
  Json& readings = out["readings"] = Json::array();
  for (const Reading& r : record.readings) {
    readings.push_back({{"workload", r.workload},
                        {"shape", r.shape},
                        {"student_ms", number(r.student_ms)},
                        {"ref_ms", number(r.ref_ms)},
                        {"ratio", number(r.ratio)},
                        {"noise", number(r.noise)}});
  }
  return out;
}

Parsed<RunRecord> record_from_json(const Json& json, const Location& where) {
  RunRecord record;
  Reader read(where);
  if (!json.is_object()) return failed<RunRecord>(diagnose("ledger-line", "a run is not an object", where));
  for (const TextField& field : kTexts) read.text(json, field.name, record.*field.at);
  for (const NumberField& field : kNumbers) read.number(json, field.name, record.*field.at);
  if (const Json* series = read.object(json, "series")) {
    for (const SeriesField& field : kSeries) read.text(*series, field.name, record.series.*field.at);
  }
  read.hashes(json, "code", record.code.files);
  read.hashes(json, "parts", record.parts);
  read_readings(json, read, record.readings);
  check_meaning(record, read);
  if (read.problem()) return failed<RunRecord>(*read.problem());
  name_code(record.code);
  return {std::move(record), {}};
}

std::string make_ident(std::uint64_t milliseconds, std::string_view random) {
  std::string out = fmt::format("{:012x}", milliseconds & 0xFFFFFFFFFFFFULL);
  for (std::size_t i = 0; i < 10; ++i)
    out += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(random[i])));
  return out;
}

}  // namespace plumbline::ledger
