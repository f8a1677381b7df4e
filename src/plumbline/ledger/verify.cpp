// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "plumbline/base/hash.h"
#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"
#include "plumbline/ledger/hex.h"
#include "plumbline/ledger/pack.h"
#include "plumbline/pricing/eval.h"

namespace plumbline::ledger {
namespace {

constexpr std::int64_t kPage = 500;

Diagnostics check_documents(Ledger& ledger, Verified& seen, const std::function<void()>& tell) {
  Connection& connection = ledger.connection();
  for (std::int64_t after = 0, last = -1; last != after;) {
    last = after;
    connection.run(
        "SELECT id, sha256, bytes, packed FROM parts WHERE id > $1 ORDER BY id LIMIT $2",
        {Param(after), Param(kPage)}, [&](const RowView& row) {
          after = row.integer(0);
          ++seen.documents;
          tell();
          if (row.null(3)) {
            ++seen.collected;
            return;
          }
          const std::string hash = to_hex(row.bytes(1));
          const auto content = unpack(row.bytes(3), row.integer(2));
          if (!content || sha256_hex(*content) != hash)
            seen.problems.push_back(
                diagnose("ledger-part-damaged", fmt::format("the document {} is not what was banked", hash)));
        });
    if (connection.failure()) {
      const Diagnostic why = *connection.failure();
      connection.rollback();
      return {why};
    }
  }
  return {};
}

/// Does the contract refuse? By its hash: a million runs of a card have few contracts.
bool refused(Ledger& ledger, const std::string& hash, std::unordered_map<std::string, bool>& known) {
  if (hash.empty()) return false;
  const auto [at, fresh] = known.try_emplace(hash, false);
  if (!fresh) return at->second;
  const auto document = ledger.document(hash);
  if (!document.ok() || !document.value->content) return false;
  const auto contract = parse_contract(*document.value->content, "window.toml");
  return at->second = !contract.ok() || refuses(check_contract(*contract.value).findings);
}

void check_ratio(Ledger& ledger, const StoredRun& run, Verified& seen) {
  const auto part = run.record.parts.find("eval");
  if (!run.record.raw_ratio || part == run.record.parts.end()) return;
  const auto document = ledger.document(part->second);
  if (!document.ok() || !document.value->content) return;
  const auto eval = parse_eval(*document.value->content, "eval.json");
  const auto ratio = eval.ok() ? raw_ratio(*eval.value) : std::nullopt;
  if (ratio && std::abs(*ratio / *run.record.raw_ratio - 1) < 1e-9) return;
  seen.problems.push_back(
      diagnose("ledger-ratio-differs", fmt::format("run {} has another ratio than its eval", run.id)));
}

}  // namespace

Parsed<Verified> verify(Ledger& ledger,
                        const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  Verified seen;
  std::int64_t all = 0;
  if (progress) {
    for (const char* count : {"SELECT COUNT(*) FROM parts", "SELECT COUNT(*) FROM runs"})
      ledger.connection().run(count, {}, [&](const RowView& row) { all += row.integer(0); });
  }
  const auto tell = [&] {
    if (progress)
      progress(static_cast<std::uint64_t>(seen.documents + seen.runs), static_cast<std::uint64_t>(all));
  };
  if (Diagnostics messages = check_documents(ledger, seen, tell); !messages.empty())
    return {std::nullopt, std::move(messages)};
  std::unordered_map<std::string, bool> contracts;
  for (std::int64_t after = 0;;) {
    const auto ids = ledger.ids_after(after, static_cast<std::size_t>(kPage));
    if (!ids.ok()) return {std::nullopt, ids.diagnostics};
    if (ids.value->empty()) break;
    for (const std::int64_t id : *ids.value) {
      after = id;
      const auto run = ledger.load(id);
      if (!run.ok()) return {std::nullopt, run.diagnostics};
      ++seen.runs;
      const RunRecord& record = run.value->record;
      if (digest(record) != run.value->digest)
        seen.problems.push_back(
            diagnose("ledger-row-damaged", fmt::format("run {} is not what was banked", id)));
      if (record.raw_ratio && refused(ledger, record.code.contract, contracts))
        seen.problems.push_back(
            diagnose("ledger-contract-refuses",
                     fmt::format("run {} carries a ratio and its contract refuses the run", id)));
      check_ratio(ledger, *run.value, seen);
      tell();
    }
  }
  return {std::move(seen), {}};
}

}  // namespace plumbline::ledger
