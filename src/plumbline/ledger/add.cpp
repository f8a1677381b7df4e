// SPDX-License-Identifier: Apache-2.0
// Opening a ledger and adding to it.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "plumbline/base/hash.h"
#include "plumbline/base/text.h"
#include "plumbline/ledger/hex.h"
#include "plumbline/ledger/ledger.h"
#include "plumbline/ledger/pack.h"
#include "plumbline/ledger/schema.h"

namespace plumbline::ledger {
namespace {

constexpr std::size_t kMostKnown = 200'000;
constexpr std::size_t kMostKernels = 64;  // of one table: the rest is in the document

}  // namespace

std::string Batch::put(std::string content) {
  std::string hash = sha256_hex(content);
  documents.emplace(hash, std::move(content));
  return hash;
}

std::string shown_place(const std::string& where) {
  const std::size_t scheme = where.find("://");
  const std::size_t at = where.rfind('@');
  if (!is_postgres_url(where) || at == std::string::npos || at < scheme) return where;
  const std::string who = where.substr(scheme + 3, at - scheme - 3);
  return where.substr(0, scheme + 3) + who.substr(0, who.find(':')) + where.substr(at);
}

Parsed<Ledger> Ledger::open(const std::string& where, Access access) {
  auto connection = is_postgres_url(where) ? open_postgres(where) : open_sqlite(where, access);
  if (!connection.ok()) return {std::nullopt, std::move(connection.diagnostics)};
  const Diagnostics trouble =
      access == Access::write ? migrate(**connection.value) : check_version(**connection.value);
  if (!trouble.empty()) {
    Diagnostics placed = trouble;
    for (Diagnostic& d : placed) {
      if (d.file.empty()) d.file = shown_place(where);
    }
    return {std::nullopt, std::move(placed)};
  }
  return {Ledger(std::move(*connection.value), where), {}};
}

Diagnostics Ledger::failed_now() {
  known_.clear();
  if (!connection_->failure()) return {};
  Diagnostic why = *connection_->failure();
  if (why.file.empty()) why.file = shown_place(where_);
  connection_->rollback();
  return {std::move(why)};
}

std::int64_t Ledger::intern(const std::string& key, const char* select, const char* insert,
                            std::initializer_list<Param> values) {
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::int64_t id = 0;
  const auto take = [&](const RowView& row) { id = row.integer(0); };
  connection_->run(select, values, take);
  if (id == 0) connection_->run(insert, values, take);
  if (id == 0) connection_->run(select, values, take);  // another writer was quicker
  if (id != 0) known_.emplace(key, id);
  return id;
}

std::int64_t Ledger::part_id(const std::string& hash) {
  if (const auto found = known_.find(hash); found != known_.end()) return found->second;
  std::int64_t id = 0;
  const std::string raw = from_hex(hash);
  connection_->run("SELECT id FROM parts WHERE sha256 = $1", {Param(Bytes{raw})},
                   [&](const RowView& row) { id = row.integer(0); });
  if (id == 0) {
    connection_->fail(
        diagnose("ledger-part-missing", fmt::format("the document {} is neither given nor banked", hash)));
  } else {
    known_.emplace(hash, id);
  }
  return id;
}

void Ledger::put_kernels(std::int64_t part, const std::string& content) {
  const Parsed<KernelTable> table = parse_kernel_table(content, "a kernel table");
  if (!table.ok()) return;  // verify says so
  const double calls = table.value->calls ? static_cast<double>(*table.value->calls) : 1.0;
  std::map<std::string, BankedKernel> by_identity;
  for (const KernelRow& row : table.value->kernels) {
    BankedKernel& kernel = by_identity[row.identity];
    kernel.launches += row.launches;
    kernel.ns += row.time_ns / calls;
  }
  std::vector<BankedKernel> kernels;
  for (auto& [identity, kernel] : by_identity) {
    kernel.identity = identity;
    kernels.push_back(kernel);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const BankedKernel& a, const BankedKernel& b) { return a.ns > b.ns; });
  if (kernels.size() > kMostKernels) kernels.resize(kMostKernels);
  for (std::size_t place = 0; place < kernels.size(); ++place) {
    connection_->run(
        "INSERT INTO table_kernels (part_id, place, identity, launches, ns) VALUES ($1, $2, $3, $4, $5) "
        "ON CONFLICT DO NOTHING",
        {Param(part), Param(static_cast<std::int64_t>(place)),
         Param(std::string_view(kernels[place].identity)), Param(kernels[place].launches),
         Param(kernels[place].ns)});
  }
}

bool Ledger::put_documents(const Batch& batch, const std::map<std::string, std::string>& packed) {
  std::map<std::string, bool> tables;
  for (const RunRecord& run : batch.runs) {
    for (const char* kind : {"student_table", "ref_table"}) {
      if (const auto found = run.parts.find(kind); found != run.parts.end()) tables[found->second] = true;
    }
  }
  const auto put = [&](const std::string& hash, std::int64_t bytes, const Param& content) {
    std::int64_t id = 0;
    const std::string raw = from_hex(hash);
    connection_->run(
        // A document that gc took comes back with its content.
        "INSERT INTO parts (sha256, bytes, packed) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO UPDATE SET "
        "packed = "
        "excluded.packed WHERE parts.packed IS NULL AND excluded.packed IS NOT NULL RETURNING id",
        {Param(Bytes{raw}), Param(bytes), content}, [&](const RowView& row) { id = row.integer(0); });
    return id;
  };
  for (const auto& [hash, bytes] : packed) {
    const std::string& content = batch.documents.at(hash);
    const auto id = put(hash, static_cast<std::int64_t>(content.size()), Bytes{bytes});
    if (id == 0) continue;
    known_.emplace(hash, id);
    if (tables.contains(hash)) put_kernels(id, content);
  }
  for (const auto& [hash, bytes] : batch.collected) {
    if (!batch.documents.contains(hash)) put(hash, bytes, std::monostate{});
  }
  return !connection_->failure();
}

std::int64_t Ledger::code_id(const Code& code) {
  const std::string manifest = code.manifest();
  const std::string hash = sha256_hex(manifest);
  const std::string key = "code " + hash;
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::string raw = from_hex(hash);
  std::int64_t id = 0;
  const auto take = [&](const RowView& row) { id = row.integer(0); };
  const auto look = [&] {
    connection_->run("SELECT id FROM code WHERE sha256 = $1", {Param(Bytes{raw})}, take);
  };
  look();
  if (id == 0) {
    const std::string packed = pack(manifest);
    connection_->run(
        "INSERT INTO parts (sha256, bytes, packed) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO NOTHING",
        {Param(Bytes{raw}), Param(static_cast<std::int64_t>(manifest.size())), Param(Bytes{packed})});
    const std::int64_t manifest_id = part_id(hash);
    connection_->run(
        "INSERT INTO code (sha256, manifest_id, contract, bench, student, reference) VALUES ($1, $2, $3, $4, "
        "$5, $6) "
        "ON CONFLICT (sha256) DO NOTHING RETURNING id",
        {Param(Bytes{raw}), Param(manifest_id), Param(std::string_view(code.contract)),
         Param(std::string_view(code.bench)), Param(std::string_view(code.student)),
         Param(std::string_view(code.reference))},
        take);
    const bool fresh = id != 0;
    if (!fresh) look();
    for (const auto& [path, file] : code.files) {
      if (!fresh) break;
      const std::int64_t part = part_id(file);
      connection_->run("INSERT INTO code_files (code_id, path, part_id) VALUES ($1, $2, $3)",
                       {Param(id), Param(std::string_view(path)), Param(part)});
    }
  }
  if (id != 0) known_.emplace(key, id);
  return id;
}

std::optional<std::int64_t> Ledger::insert_run(const RunRecord& r, Added& added) {
  const auto text = [](const std::string& value) { return Param(std::string_view(value)); };
  const std::int64_t card =
      intern("card " + r.card, "SELECT id FROM cards WHERE name = $1",
             "INSERT INTO cards (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id", {text(r.card)});
  const Series& s = r.series;
  const std::int64_t series = intern(
      fmt::format("series {}\n{}\n{}\n{}\n{}\n{}", card, s.gpu, s.driver, s.timed, s.harness, s.boundary),
      "SELECT id FROM series WHERE card_id = $1 AND gpu = $2 AND driver = $3 AND timed = $4 AND harness = $5 "
      "AND boundary = $6",
      "INSERT INTO series (card_id, gpu, driver, timed, harness, boundary) VALUES ($1, $2, $3, $4, $5, $6) "
      "ON CONFLICT DO NOTHING RETURNING id",
      {Param(card), text(s.gpu), text(s.driver), text(s.timed), text(s.harness), text(s.boundary)});
  const std::int64_t code = code_id(r.code);
  std::array<Param, kParts.size()> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const auto found = r.parts.find(std::string(kParts[i]));
    if (found != r.parts.end()) parts[i] = part_id(found->second);
  }
  Param corrects;
  if (!r.corrects.empty()) {
    std::int64_t id = 0;
    connection_->run("SELECT id FROM runs WHERE ident = $1", {text(r.corrects)},
                     [&](const RowView& row) { id = row.integer(0); });
    if (id == 0)
      connection_->fail(diagnose("ledger-run-missing",
                                 fmt::format("the run {} that is corrected is not there", r.corrects)));
    corrects = id;
  }
  const std::string hash = digest(r);
  std::optional<std::int64_t> id;
  connection_->run(
      "INSERT INTO runs (ident, card_id, series_id, code_id, made_at, name, outcome, gate, raw_ratio, "
      "raw_low, raw_high, "
      "credited_ratio, credited_low, credited_high, student_ms, ref_ms, prep_ms, sm_mhz, corrects, note, "
      "eval_id, "
      "student_table_id, ref_table_id, verdict_id, machine_id, digest) VALUES ($1, $2, $3, $4, $5, $6, $7, "
      "$8, $9, $10, "
      "$11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) ON CONFLICT (ident) "
      "DO NOTHING "
      "RETURNING id",
      {text(r.ident),
       Param(card),
       Param(series),
       Param(code),
       text(r.made_at),
       text(r.name),
       text(r.outcome),
       maybe(r.gate),
       maybe(r.raw_ratio),
       maybe(r.raw_low),
       maybe(r.raw_high),
       maybe(r.credited_ratio),
       maybe(r.credited_low),
       maybe(r.credited_high),
       maybe(r.student_ms),
       maybe(r.ref_ms),
       maybe(r.prep_ms),
       maybe(r.sm_mhz),
       corrects,
       text(r.note),
       parts[0],
       parts[1],
       parts[2],
       parts[3],
       parts[4],
       Param(Bytes{hash})},
      [&](const RowView& row) { id = row.integer(0); });
  if (!id) {
    std::string before;
    connection_->run("SELECT id, digest FROM runs WHERE ident = $1", {text(r.ident)},
                     [&](const RowView& row) {
                       id = row.integer(0);
                       before = row.bytes(1);
                     });
    if (before != hash)
      connection_->fail(
          diagnose("ledger-run-differs", fmt::format("the run {} is there with another content", r.ident)));
    ++added.already;
    return id;
  }
  for (const Reading& reading : r.readings) {
    const std::int64_t workload =
        intern("workload " + reading.workload + "\n" + reading.shape,
               "SELECT id FROM workloads WHERE name = $1 AND shape = $2",
               "INSERT INTO workloads (name, shape) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id",
               {text(reading.workload), text(reading.shape)});
    connection_->run(
        "INSERT INTO readings (run_id, workload_id, student_ms, ref_ms, ratio, noise) VALUES ($1, $2, $3, "
        "$4, $5, $6)",
        {Param(*id), Param(workload), maybe(reading.student_ms), maybe(reading.ref_ms), maybe(reading.ratio),
         maybe(reading.noise)});
  }
  return id;
}

Parsed<Added> Ledger::add(const Batch& given) {
  if (known_.size() > kMostKnown) known_.clear();
  // What takes time is done before the one lock is asked for.
  std::map<std::string, std::string> packed;
  for (const auto& [hash, content] : given.documents) {
    bool there = known_.contains(hash);
    const std::string raw = from_hex(hash);
    if (!there) {
      connection_->run("SELECT id FROM parts WHERE sha256 = $1 AND packed IS NOT NULL", {Param(Bytes{raw})},
                       [&](const RowView&) { there = true; });
    }
    if (!there) packed.emplace(hash, pack(content));
  }
  if (connection_->failure()) return {std::nullopt, failed_now()};
  Added added;
  const bool done = transact(*connection_, [&] {
    if (!added.ids.empty() || added.already != 0) known_.clear();  // an attempt was rolled back
    added = {};
    if (!put_documents(given, packed)) return false;
    for (const RunRecord& run : given.runs) {
      const auto id = insert_run(run, added);
      if (!id || connection_->failure()) {
        known_.clear();
        return false;
      }
      added.ids.push_back(*id);
    }
    return true;
  });
  if (done) return {std::move(added), {}};
  return {std::nullopt, failed_now()};
}

}  // namespace plumbline::ledger
