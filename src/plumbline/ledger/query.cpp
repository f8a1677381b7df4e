// SPDX-License-Identifier: Apache-2.0
// Reading a ledger.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/ledger/hex.h"
#include "plumbline/ledger/ledger.h"
#include "plumbline/ledger/pack.h"

namespace plumbline::ledger {
namespace {

constexpr int kMostCounted = 100'000;  // runs of a series: to count a million takes longer than all the rest

constexpr std::string_view kLine =
    "SELECT r.id, r.ident, c.name, r.made_at, r.name, r.outcome, r.series_id, r.code_id, r.gate, "
    "r.raw_ratio, "
    "r.raw_low, r.raw_high, r.credited_ratio, r.student_ms, r.ref_ms, r.corrects, r.student_table_id, "
    "r.note, "
    "(SELECT max(n.id) FROM runs n WHERE n.corrects = r.id) FROM runs r JOIN cards c ON c.id = r.card_id";

RunLine line_of(const RowView& row) {
  RunLine line;
  line.id = row.integer(0);
  line.ident = row.text(1);
  line.card = row.text(2);
  line.made_at = row.text(3);
  line.name = row.text(4);
  line.outcome = row.text(5);
  line.series = row.integer(6);
  line.code = row.integer(7);
  line.gate = row.maybe_real(8);
  line.raw_ratio = row.maybe_real(9);
  line.raw_low = row.maybe_real(10);
  line.raw_high = row.maybe_real(11);
  line.credited_ratio = row.maybe_real(12);
  line.student_ms = row.maybe_real(13);
  line.ref_ms = row.maybe_real(14);
  line.corrects = row.maybe_integer(15);
  line.student_table = row.maybe_integer(16);
  line.note = row.text(17);
  line.corrected_by = row.maybe_integer(18);
  return line;
}

Diagnostic not_there(const std::string& what, const std::string& card) {
  return diagnose("ledger-run-missing", fmt::format("no run {}{} in the ledger", in_quotes(what),
                                                    card.empty() ? "" : " of " + in_quotes(card)));
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Parsed<std::vector<RunLine>> Ledger::list(const RunFilter& filter) {
  std::string sql(kLine);
  std::vector<Param> values;
  std::string glue = " WHERE ";
  const auto where = [&](std::string_view condition, const Param& value) {
    values.push_back(value);
    sql += fmt::format("{}{} ${}", glue, condition, values.size());
    glue = " AND ";
  };
  // A card's number is looked up first: then one index gives the newest rows without sorting.
  std::int64_t card = 0;
  if (!filter.card.empty()) {
    connection_->run("SELECT id FROM cards WHERE name = $1", {Param(std::string_view(filter.card))},
                     [&](const RowView& row) { card = row.integer(0); });
    where("r.card_id =", card);
  }
  if (filter.series) where("r.series_id =", *filter.series);
  if (filter.code) where("r.code_id =", *filter.code);
  if (filter.before) where("r.id <", *filter.before);
  if (!filter.outcome.empty()) where("r.outcome =", std::string_view(filter.outcome));
  if (filter.readings_only) {
    sql += glue +
           "r.outcome IN ('pass', 'fail-gate', 'within-noise') AND r.raw_ratio IS NOT NULL AND NOT EXISTS "
           "(SELECT 1 "
           "FROM runs n WHERE n.corrects = r.id)";
  }
  sql += fmt::format(" ORDER BY r.id DESC LIMIT {}", filter.most);
  std::vector<RunLine> lines;
  connection_->run(sql, values, [&](const RowView& row) { lines.push_back(line_of(row)); });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {std::move(lines), {}};
}

Parsed<StoredRun> Ledger::find(const std::string& what, const std::string& card) {
  std::vector<std::int64_t> found;
  const auto take = [&](const RowView& row) { found.push_back(row.integer(0)); };
  const auto number = parse_int(what);
  if (what == "last") {
    RunFilter filter;
    filter.card = card;
    filter.most = 1;
    const auto lines = list(filter);
    if (!lines.ok()) return {std::nullopt, lines.diagnostics};
    for (const RunLine& line : *lines.value) found.push_back(line.id);
  } else if (number && what.size() < 12) {
    connection_->run("SELECT id FROM runs WHERE id = $1", {Param(*number)}, take);
  } else if (what.size() >= 12 && what.size() <= 32 && is_hex(what)) {
    const std::string end = what + "g";
    connection_->run("SELECT id FROM runs WHERE ident >= $1 AND ident < $2 ORDER BY id LIMIT 3",
                     {Param(std::string_view(what)), Param(std::string_view(end))}, take);
    if (found.size() > 1)
      return failed<StoredRun>(diagnose("ledger-run-ambiguous", fmt::format("{} begins several runs", what)));
  }
  if (found.empty() && what != "last" && !card.empty()) {
    connection_->run(
        "SELECT r.id FROM runs r JOIN cards c ON c.id = r.card_id WHERE c.name = $1 AND r.name = $2 ORDER BY "
        "r.id DESC "
        "LIMIT 1",
        {Param(std::string_view(card)), Param(std::string_view(what))}, take);
  }
  if (connection_->failure()) return {std::nullopt, failed_now()};
  if (found.empty()) return failed<StoredRun>(not_there(what, card));
  return load(found.front());
}

Parsed<StoredRun> Ledger::load(std::int64_t id) {
  StoredRun run;
  run.id = 0;
  RunRecord& r = run.record;
  connection_->run(
      "SELECT r.id, r.ident, c.name, r.made_at, r.name, r.outcome, r.series_id, r.code_id, r.gate, "
      "r.raw_ratio, r.raw_low, "
      "r.raw_high, r.credited_ratio, r.credited_low, r.credited_high, r.student_ms, r.ref_ms, r.prep_ms, "
      "r.sm_mhz, "
      "r.note, r.digest, s.gpu, s.driver, s.timed, s.harness, s.boundary, (SELECT o.ident FROM runs o WHERE "
      "o.id = "
      "r.corrects), (SELECT max(n.id) FROM runs n WHERE n.corrects = r.id) FROM runs r JOIN cards c ON c.id "
      "= "
      "r.card_id JOIN series s ON s.id = r.series_id WHERE r.id = $1",
      {Param(id)}, [&](const RowView& row) {
        run.id = row.integer(0);
        r.ident = row.text(1);
        r.card = row.text(2);
        r.made_at = row.text(3);
        r.name = row.text(4);
        r.outcome = row.text(5);
        run.series = row.integer(6);
        run.code = row.integer(7);
        int at = 8;
        for (auto* value :
             {&r.gate, &r.raw_ratio, &r.raw_low, &r.raw_high, &r.credited_ratio, &r.credited_low,
              &r.credited_high, &r.student_ms, &r.ref_ms, &r.prep_ms, &r.sm_mhz}) {
          *value = row.maybe_real(at++);
        }
        r.note = row.text(at++);
        run.digest = row.bytes(at++);
        for (auto* text :
             {&r.series.gpu, &r.series.driver, &r.series.timed, &r.series.harness, &r.series.boundary})
          *text = row.text(at++);
        r.corrects = row.text(at++);
        run.corrected_by = row.maybe_integer(at);
      });
  connection_->run(
      "SELECT f.path, p.sha256 FROM code_files f JOIN parts p ON p.id = f.part_id WHERE f.code_id = $1",
      {Param(run.code)}, [&](const RowView& row) { r.code.files[row.text(0)] = to_hex(row.bytes(1)); });
  for (const std::string_view kind : kParts) {
    connection_->run(
        fmt::format("SELECT p.sha256 FROM runs r JOIN parts p ON p.id = r.{}_id WHERE r.id = $1", kind),
        {Param(id)}, [&](const RowView& row) { r.parts[std::string(kind)] = to_hex(row.bytes(0)); });
  }
  if (connection_->failure()) return {std::nullopt, failed_now()};
  if (run.id == 0) return failed<StoredRun>(not_there(std::to_string(id), ""));
  auto own = readings(id);
  if (!own.ok()) return {std::nullopt, own.diagnostics};
  r.readings = std::move(*own.value);
  name_code(r.code);
  return {std::move(run), {}};
}

Parsed<Document> Ledger::document(const std::string& hash) {
  Document document;
  document.hash = hash;
  bool found = false;
  std::string packed;
  const std::string raw = from_hex(hash);
  connection_->run("SELECT bytes, packed FROM parts WHERE sha256 = $1", {Param(Bytes{raw})},
                   [&](const RowView& row) {
                     found = true;
                     document.bytes = row.integer(0);
                     document.collected = row.null(1);
                     packed = row.bytes(1);
                   });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  if (!found)
    return failed<Document>(diagnose("ledger-part-missing", fmt::format("no document {} is banked", hash)));
  if (!document.collected) document.content = unpack(packed, document.bytes);
  return {std::move(document), {}};
}

Parsed<std::vector<BankedKernel>> Ledger::kernels(std::int64_t table_part, std::size_t most) {
  std::vector<BankedKernel> out;
  connection_->run(
      "SELECT identity, launches, ns FROM table_kernels WHERE part_id = $1 ORDER BY place LIMIT $2",
      {Param(table_part), Param(static_cast<std::int64_t>(most))}, [&](const RowView& row) {
        out.push_back({row.text(0), row.integer(1), row.real(2)});
      });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {std::move(out), {}};
}

Parsed<std::vector<Reading>> Ledger::readings(std::int64_t run) {
  std::vector<Reading> out;
  connection_->run(
      "SELECT w.name, w.shape, g.student_ms, g.ref_ms, g.ratio, g.noise FROM readings g JOIN workloads w ON "
      "w.id = "
      "g.workload_id WHERE g.run_id = $1",
      {Param(run)}, [&](const RowView& row) {
        out.push_back({row.text(0), row.text(1), row.maybe_real(2), row.maybe_real(3), row.maybe_real(4),
                       row.maybe_real(5)});
      });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  std::sort(out.begin(), out.end(), [](const Reading& a, const Reading& b) {
    return std::tie(a.workload, a.shape) < std::tie(b.workload, b.shape);
  });
  return {std::move(out), {}};
}

Parsed<Series> Ledger::series(std::int64_t id) {
  Series series;
  connection_->run("SELECT gpu, driver, timed, harness, boundary FROM series WHERE id = $1", {Param(id)},
                   [&](const RowView& row) {
                     series = {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)};
                   });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {std::move(series), {}};
}

Parsed<std::vector<Ledger::SeriesCount>> Ledger::series_of(const std::string& card, std::int64_t except) {
  std::vector<SeriesCount> out;
  connection_->run(
      fmt::format(
          "SELECT s.id, (SELECT count(*) FROM (SELECT 1 FROM runs r WHERE r.series_id = s.id LIMIT {}) "
          "AS some) FROM series s JOIN cards c ON c.id = s.card_id WHERE c.name = $1 AND s.id <> $2 ORDER "
          "BY 2 DESC, 1",
          kMostCounted),
      {Param(std::string_view(card)), Param(except)}, [&](const RowView& row) {
        out.push_back({row.integer(0), row.integer(1)});
      });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {std::move(out), {}};
}

Parsed<std::vector<std::int64_t>> Ledger::ids_after(std::int64_t after, std::size_t most) {
  std::vector<std::int64_t> out;
  connection_->run("SELECT id FROM runs WHERE id > $1 ORDER BY id LIMIT $2",
                   {Param(after), Param(static_cast<std::int64_t>(most))},
                   [&](const RowView& row) { out.push_back(row.integer(0)); });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {std::move(out), {}};
}

Parsed<std::int64_t> Ledger::count() {
  std::int64_t count = 0;
  connection_->run("SELECT count(*) FROM runs", {}, [&](const RowView& row) { count = row.integer(0); });
  if (connection_->failure()) return {std::nullopt, failed_now()};
  return {count, {}};
}

}  // namespace plumbline::ledger
