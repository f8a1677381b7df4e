// SPDX-License-Identifier: Apache-2.0
// plumbline-table/1, out and in. The schema is published as docs/schema/kernel-table.schema.json.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {
namespace {

constexpr std::string_view kSchema = "plumbline-table/1";
constexpr double kExact = 9007199254740992.0;  // 2^53: integers up to here are exact in a double

/// Nanoseconds: an integer where it is one.
Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json copies(const std::optional<CopyTotals>& totals) {
  if (!totals) return nullptr;
  return {{"count", totals->count}, {"time_ns", number(totals->time_ns)}};
}

Json row_json(const KernelRow& row) {
  Json out = {{"name", row.name},
              {"identity", row.identity},
              {"launches", row.launches},
              {"time_ns", number(row.time_ns)},
              {"pct", round_places(row.pct, 1)}};
  if (row.tensor_pct) out["tensor_pct"] = round_places(*row.tensor_pct, 4);
  if (row.min_ns) out["min_ns"] = number(*row.min_ns);
  if (row.max_ns) out["max_ns"] = number(*row.max_ns);
  if (row.truncated) out["truncated"] = true;
  return out;
}

/// Reads the fields of one object; the first that is wrong is reported with its place.
class Reader {
 public:
  Reader(const std::string& file, Diagnostics& out) : file_(file), out_(out) {}

  void fail(const std::string& pointer, const std::string& what) {
    out_.push_back(
        diagnose("table-value", fmt::format("{}: {}", pointer.empty() ? "/" : pointer, what), {file_}));
  }

  std::string text(const Json& object, const char* key, const std::string& at, bool required) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) {
      if (required) fail(at + "/" + key, "is missing");
      return {};
    }
    if (it->is_string()) return it->get<std::string>();
    fail(at + "/" + key, "must be a string");
    return {};
  }

  std::optional<double> real(const Json& object, const char* key, const std::string& at, double most) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) return std::nullopt;
    const double value = it->is_number() ? it->get<double>() : -1;
    if (it->is_number() && std::isfinite(value) && value >= 0 && value <= most) return value;
    fail(at + "/" + key, fmt::format("must be a number from 0 to {}", format_double(most)));
    return std::nullopt;
  }

  std::optional<std::int64_t> whole(const Json& object, const char* key, const std::string& at,
                                    std::int64_t least) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) return std::nullopt;
    if (it->is_number_unsigned() && it->get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxCount)) {
      fail(at + "/" + key, "is too large");
      return std::nullopt;
    }
    if (it->is_number_integer() && it->get<std::int64_t>() >= least && it->get<std::int64_t>() <= kMaxCount) {
      return it->get<std::int64_t>();
    }
    fail(at + "/" + key, fmt::format("must be a whole number of at least {}", least));
    return std::nullopt;
  }

  static constexpr double kMaxTime = 1e18;  // 31 years in ns: sums stay finite
  static constexpr std::int64_t kMaxCount = 1'000'000'000'000'000;

 private:
  const std::string& file_;
  Diagnostics& out_;
};

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

KernelRow read_row(Reader& reader, const Json& object, const std::string& at) {
  KernelRow row;
  if (!object.is_object()) {
    reader.fail(at, "must be an object");
    return row;
  }
  row.name = reader.text(object, "name", at, true);
  if (object.contains("name") && row.name.empty()) reader.fail(at + "/name", "must not be empty");
  const auto launches = reader.whole(object, "launches", at, 1);
  if (!launches && (!object.contains("launches") || object["launches"].is_null())) {
    reader.fail(at + "/launches", "is missing");
  }
  const auto time = reader.real(object, "time_ns", at, Reader::kMaxTime);
  if (!time && (!object.contains("time_ns") || object["time_ns"].is_null())) {
    reader.fail(at + "/time_ns", "is missing");
  }
  row.launches = launches.value_or(0);
  row.time_ns = time.value_or(0);
  row.tensor_pct = reader.real(object, "tensor_pct", at, 100);
  row.min_ns = reader.real(object, "min_ns", at, Reader::kMaxTime);
  row.max_ns = reader.real(object, "max_ns", at, Reader::kMaxTime);
  if (row.min_ns && row.max_ns && *row.min_ns > *row.max_ns) reader.fail(at + "/min_ns", "is over max_ns");
  if (row.max_ns && time && *row.max_ns > *time * (1 + 1e-9) + 1)
    reader.fail(at + "/max_ns", "is over time_ns, the sum of all launches");
  if (const auto it = object.find("truncated"); it != object.end() && it->is_boolean()) row.truncated = *it;
  return row;
}

std::optional<CopyTotals> read_copies(Reader& reader, const Json& document, const char* key) {
  const auto it = document.find(key);
  if (it == document.end() || it->is_null()) return std::nullopt;
  const std::string at = std::string("/") + key;
  if (!it->is_object()) {
    reader.fail(at, "must be an object");
    return std::nullopt;
  }
  CopyTotals totals;
  totals.count = reader.whole(*it, "count", at, 0).value_or(0);
  totals.time_ns = reader.real(*it, "time_ns", at, Reader::kMaxTime).value_or(0);
  return totals;
}

void read_account(Reader& reader, const Json& document, KernelTable& table) {
  const auto it = document.find("account");
  RowAccount& account = table.account;
  if (it == document.end() || it->is_null()) {
    account.rows = account.kept = static_cast<std::int64_t>(table.kernels.size());
    return;
  }
  if (!it->is_object()) return reader.fail("/account", "must be an object");
  account.rows = reader.whole(*it, "rows", "/account", 0).value_or(0);
  account.kept = reader.whole(*it, "kept", "/account", 0).value_or(0);
  account.dropped = reader.whole(*it, "dropped", "/account", 0).value_or(0);
  account.ignored = reader.whole(*it, "ignored", "/account", 0).value_or(0);
  if (account.rows != account.kept + account.dropped + account.ignored) {
    reader.fail("/account", "rows must be kept + dropped + ignored");
  }
}

void read_notes(Reader& reader, const Json& document, KernelTable& table) {
  const auto it = document.find("notes");
  if (it == document.end() || it->is_null()) return;
  if (!it->is_array()) return reader.fail("/notes", "must be a list of strings");
  for (const Json& note : *it) {
    if (!note.is_string()) return reader.fail("/notes", "must be a list of strings");
    table.notes.push_back(note.get<std::string>());
  }
}

void check_total(Reader& reader, const Json& document, const KernelTable& table) {
  const auto claimed = reader.real(document, "total_ns", "", Reader::kMaxTime);
  if (claimed && std::abs(*claimed - table.total_ns) > 1e-6 * std::max(1.0, table.total_ns)) {
    reader.fail("/total_ns", fmt::format("is {} and the kernels sum to {}", format_double(*claimed),
                                         format_double(table.total_ns)));
  }
}

KernelTable read_document(Reader& reader, const Json& document) {
  KernelTable table;
  table.source = reader.text(document, "source", "", true);
  table.file_sha256 = reader.text(document, "file_sha256", "", false);
  if (!table.file_sha256.empty() && !is_sha256(table.file_sha256))
    reader.fail("/file_sha256", "must be 64 hexadecimal digits");
  table.device = reader.text(document, "device", "", false);
  table.region = reader.text(document, "region", "", false);
  table.calls = reader.whole(document, "calls", "", 1);
  const auto kernels = document.find("kernels");
  if (kernels == document.end() || !kernels->is_array()) {
    reader.fail("/kernels", "must be a list of kernels");
  } else {
    table.kernels.reserve(kernels->size());
    for (std::size_t i = 0; i < kernels->size(); ++i) {
      table.kernels.push_back(read_row(reader, (*kernels)[i], "/kernels/" + std::to_string(i)));
    }
  }
  table.busy_ns = reader.real(document, "busy_ns", "", Reader::kMaxTime);
  table.gaps_ns = reader.real(document, "gaps_ns", "", Reader::kMaxTime);
  table.overlap_ns = reader.real(document, "overlap_ns", "", Reader::kMaxTime);
  table.streams = reader.whole(document, "streams", "", 0);
  table.memcpy = read_copies(reader, document, "memcpy");
  table.memset = read_copies(reader, document, "memset");
  read_account(reader, document, table);
  read_notes(reader, document, table);
  if (const auto it = document.find("lossy"); it != document.end() && !it->is_null()) {
    if (it->is_boolean()) {
      table.lossy = it->get<bool>();
    } else {
      reader.fail("/lossy", "must be true or false");
    }
  }
  if (table.account.dropped > 0) table.lossy = true;
  return table;
}

}  // namespace

Json to_json(const KernelTable& table) {
  Json kernels = Json::array();
  for (const KernelRow& row : table.kernels) kernels.push_back(row_json(row));
  Json out = {{"schema", kSchema},
              {"source", table.source},
              {"device", table.device},
              {"region", table.region},
              {"calls", table.calls ? Json(*table.calls) : Json(nullptr)},
              {"kernels", std::move(kernels)},
              {"total_ns", number(table.total_ns)},
              {"time_ns_per_call", number(table.time_ns_per_call)},
              {"dominant", table.dominant},
              {"busy_ns", number(table.busy_ns)},
              {"gaps_ns", number(table.gaps_ns)},
              {"account",
               {{"rows", table.account.rows},
                {"kept", table.account.kept},
                {"dropped", table.account.dropped},
                {"ignored", table.account.ignored}}},
              {"notes", table.notes},
              {"lossy", table.lossy}};
  if (!table.file_sha256.empty()) out["file_sha256"] = table.file_sha256;
  if (table.overlap_ns) out["overlap_ns"] = number(table.overlap_ns);
  if (table.streams) out["streams"] = *table.streams;
  if (table.memcpy) out["memcpy"] = copies(table.memcpy);
  if (table.memset) out["memset"] = copies(table.memset);
  return out;
}

Parsed<KernelTable> parse_kernel_table(std::string_view text, const std::string& file) {
  Parsed<Json> json = parse_json(text, file);
  Parsed<KernelTable> result;
  result.diagnostics = std::move(json.diagnostics);
  if (!json.ok()) return result;
  if (auto twice = duplicate_key(text, file)) return failed<KernelTable>(*std::move(twice));
  const Json& document = *json.value;
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (!document.is_object() || schema == document.end() || *schema != kSchema) {
    std::string found = "is missing";
    if (document.is_object() && schema != document.end() && schema->is_string()) {
      found = fmt::format("is \"{}\"", schema->get<std::string>());
    }
    result.diagnostics.push_back(diagnose(
        "table-schema", fmt::format("\"schema\" {}; this version reads \"{}\"", found, kSchema), {file}));
    return result;
  }
  Reader reader(file, result.diagnostics);
  KernelTable table = read_document(reader, document);
  if (has_errors(result.diagnostics)) return result;
  finish_table(table);
  check_total(reader, document, table);
  if (!has_errors(result.diagnostics)) result.value = std::move(table);
  return result;
}

}  // namespace plumbline
