// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/measured_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "plumbline/base/csv.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/statistics.h"

namespace plumbline::ledger {
namespace {

/// The keys of a shape that make it rows of a file; the first that fits.
struct Family {
  std::string_view file;
  std::array<std::string_view, 4> needs;
};
constexpr auto kFamilies = std::to_array<Family>({{"grouped_gemm", {"tokens", "hidden", "experts", "part"}},
                                                  {"moe", {"tokens", "hidden", "inter", "experts"}},
                                                  {"collective", {"gpus", "message", "", ""}},
                                                  {"gemm", {"m", "n", "k", ""}},
                                                  {"layers", {"hidden_dim", "ffn_dim", "seq_len", ""}},
                                                  {"attention", {"heads", "kv_heads", "kv_len", ""}},
                                                  {"attention", {"heads", "kv_heads", "seq_q", ""}},
                                                  {"mla", {"heads", "batch", "kv_len", ""}},
                                                  {"elementwise", {"op", "rows", "cols", ""}}});

/// The cell of a shape's value; none where it is not a plain value.
std::optional<std::string> cell_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return format_double(value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  return {};
}

/// A row before its runs are put together.
struct Gathered {
  std::string family;
  std::map<std::string, std::string> cells;
  std::string driver, card, ident, made_at;  ///< of the newest
  std::vector<double> ms;
  std::set<std::string> kernels;  ///< the one kernel of each table
};

/// The shape as cells, or none where no operation has these keys.
std::optional<Gathered> gathered(const std::string& shape) {
  const Parsed<Json> json = parse_json(shape, "a shape");
  if (!json.ok() || !json.value->is_object()) return {};
  const auto fits = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return std::all_of(family.needs.begin(), family.needs.end(), [&](std::string_view key) {
      return key.empty() || json.value->contains(std::string(key));
    });
  });
  if (fits == kFamilies.end()) return {};
  Gathered out;
  out.family = fits->file;
  for (const auto& [key, value] : json.value->items()) {
    const auto cell = cell_of(value);
    // A column of time must not come out of a shape.
    if (cell && key != "ms" && key != "us" && key != "ns") out.cells[key] = *cell;
  }
  return out;
}

constexpr std::array kProvenance = {"ms",  "ms_min", "ms_max", "runs", "side",
                                    "gpu", "driver", "card",   "run",  "made_at"};

std::string line_of(const std::vector<std::string>& cells) {
  std::string out;
  for (const std::string& cell : cells) out.append(out.empty() ? "" : ",").append(csv_cell(cell));
  return out + "\n";
}

/// The CSV of one family: the columns of all its shapes, then where each row comes from.
std::string csv_of(const std::vector<const Gathered*>& rows, const std::string& gpu, bool student) {
  std::set<std::string> columns;
  for (const Gathered* row : rows) {
    for (const auto& [key, cell] : row->cells) columns.insert(key);
  }
  for (const char* name : kProvenance) columns.erase(name);
  std::vector<std::string> header(columns.begin(), columns.end());
  header.insert(header.end(), kProvenance.begin(), kProvenance.end());
  std::string out = line_of(header);
  for (const Gathered* row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : columns) {
      const auto found = row->cells.find(key);
      cells.push_back(found == row->cells.end() ? "" : found->second);
    }
    const auto [low, high] = std::minmax_element(row->ms.begin(), row->ms.end());
    for (const double ms : {*median(row->ms), *low, *high}) cells.push_back(format_double(ms));
    cells.insert(cells.end(), {std::to_string(row->ms.size()), student ? "student" : "reference", gpu,
                               row->driver, row->card, row->ident, row->made_at});
    out += line_of(cells);
  }
  return out;
}

/// m, n, k, kernel: which kernel ran, where every table of the shape has the same one and no other.
std::string names_of(const std::vector<const Gathered*>& rows) {
  std::string out;
  for (const Gathered* row : rows) {
    if (row->kernels.size() != 1) continue;
    if (out.empty()) out = "m,n,k,kernel\n";
    out += line_of({row->cells.at("m"), row->cells.at("n"), row->cells.at("k"), *row->kernels.begin()});
  }
  return out;
}

constexpr std::string_view kReadings =
    "SELECT s.gpu, s.driver, s.timed, c.name, r.ident, r.made_at, k.student, k.reference, w.shape, "
    "g.student_ms, "
    "g.ref_ms, r.student_ms, r.ref_ms, r.student_table_id, r.ref_table_id FROM runs r JOIN series s ON s.id "
    "= "
    "r.series_id JOIN code k ON k.id = r.code_id JOIN cards c ON c.id = r.card_id JOIN readings g ON "
    "g.run_id = r.id "
    "JOIN workloads w ON w.id = g.workload_id WHERE r.outcome IN ('pass', 'fail-gate', 'within-noise') AND "
    "r.raw_ratio "
    "IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.corrects = r.id)";

/// The rows by what makes them one, and the table of each that is to be looked into.
class Gatherer {
 public:
  Gatherer(const RowsRequest& request, MeasuredFiles& out) : request_(request), out_(out) {}

  void take(const RowView& row) {
    if (out_.gpu.empty()) out_.gpu = row.text(0);
    if (row.text(0) != out_.gpu) return void(++out_.other_gpus);
    if (row.text(2) != "pipelined") return void(++out_.host_timed);
    const auto ms = row.maybe_real(request_.student ? 9 : 10);
    auto shaped = gathered(row.text(8));
    if (!shaped || !ms || !(*ms > 0)) return void(++out_.shapeless);
    ++out_.readings;
    const std::string key = fmt::format("{}\n{}\n{}\n{}", row.text(8), row.text(1), row.text(3),
                                        row.text(request_.student ? 6 : 7));
    const auto [it, fresh] = rows_.try_emplace(key, std::move(*shaped));
    Gathered& one = it->second;
    if (fresh) {  // the newest comes first
      one.driver = row.text(1);
      one.card = row.text(3);
      one.ident = row.text(4);
      one.made_at = row.text(5);
    }
    one.ms.push_back(*ms);
    // The tables are those of the workload whose times are the run's.
    const bool campaign = row.maybe_real(9) == row.maybe_real(11) && row.maybe_real(10) == row.maybe_real(12);
    const auto table = row.maybe_integer(request_.student ? 13 : 14);
    if (campaign && table && one.family == "gemm") tables_.emplace_back(key, *table);
  }
  std::map<std::string, Gathered>& rows() { return rows_; }
  const std::vector<std::pair<std::string, std::int64_t>>& tables() const { return tables_; }

 private:
  const RowsRequest& request_;
  MeasuredFiles& out_;
  std::map<std::string, Gathered> rows_;
  std::vector<std::pair<std::string, std::int64_t>> tables_;
};

}  // namespace

Parsed<MeasuredFiles> measured_rows(Ledger& ledger, const RowsRequest& request) {
  MeasuredFiles out;
  out.gpu = request.gpu;
  Gatherer gatherer(request, out);
  Connection& connection = ledger.connection();
  std::string sql(kReadings);
  std::vector<Param> values;
  if (!request.card.empty()) {
    sql += " AND c.name = $1";
    values.emplace_back(std::string_view(request.card));
  }
  connection.run(sql + " ORDER BY r.id DESC", values, [&](const RowView& row) { gatherer.take(row); });
  if (connection.failure()) {
    Diagnostic why = *connection.failure();
    connection.rollback();
    return failed<MeasuredFiles>(std::move(why));
  }
  for (const auto& [key, table] : gatherer.tables()) {
    const auto kernels = ledger.kernels(table, 2);
    if (!kernels.ok()) return {std::nullopt, kernels.diagnostics};
    gatherer.rows().at(key).kernels.insert(kernels.value->size() == 1 ? kernels.value->front().identity : "");
  }
  std::map<std::string, std::vector<const Gathered*>> families;
  for (const auto& [key, row] : gatherer.rows()) {
    families[row.family].push_back(&row);
    ++out.rows;
  }
  for (const auto& [family, rows] : families) {
    out.files[family + ".csv"] = csv_of(rows, out.gpu, request.student);
    if (family != "gemm") continue;
    if (std::string names = names_of(rows); !names.empty()) out.files["gemm_kernels.csv"] = std::move(names);
  }
  if (out.readings == 0)
    return failed<MeasuredFiles>(
        diagnose("ledger-run-missing", fmt::format("no pipelined reading{} has a shape of an operation that "
                                                   "is modelled ({} have none, {} are of other GPUs, {} "
                                                   "are per-call)",
                                                   request.card.empty() ? "" : " of the card", out.shapeless,
                                                   out.other_gpus, out.host_timed)));
  return {std::move(out), {}};
}

}  // namespace plumbline::ledger
