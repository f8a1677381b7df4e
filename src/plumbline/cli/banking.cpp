// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/banking.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/ledger/outcome.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 256;

std::optional<std::string> file_of(const Card& card, const std::string& path) {
  const fs::path p(path);
  if (p.is_absolute() || std::find(p.begin(), p.end(), fs::path("..")) != p.end()) return {};
  Parsed<std::string> content = read_file((fs::path(card.folder) / p).string());
  return std::move(content.value);
}

}  // namespace

Json to_json(const Banked& banked) {
  return {{"run", banked.id}, {"ident", banked.ident}, {"outcome", banked.outcome}, {"ledger", banked.where}};
}

std::string card_ledger(const Card& card) { return (fs::path(card.folder) / "ledger.db").string(); }

void stamp(ledger::RunRecord& record) {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  std::array<char, 10> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) random.fill('\0');
  record.ident = ledger::make_ident(static_cast<std::uint64_t>(duration_cast<milliseconds>(now).count()),
                                    {random.data(), random.size()});
  const std::time_t seconds = duration_cast<std::chrono::seconds>(now).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  record.made_at.assign(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

void put_code(const Card& card, const std::map<std::string, std::string>& ran, ledger::RunRecord& record,
              ledger::Batch& batch) {
  for (const auto& [path, hash] : ran) {
    if (record.code.files.size() >= kMostFiles) break;
    std::optional<std::string> content = file_of(card, path);
    record.code.files[path] = hash;
    if (content && sha256_hex(*content) == hash) {
      batch.put(std::move(*content));
    } else {
      batch.collected[hash] = 0;
    }
  }
  for (const char* path : {"window.toml", "eval/bench.py", "eval/ncu_run.py", "kernel.py", "reference.py"}) {
    if (record.code.files.contains(path)) continue;
    if (auto content = file_of(card, path)) record.code.files[path] = batch.put(std::move(*content));
  }
  ledger::name_code(record.code);
}

void put_parts(const Judged& judged, ledger::RunRecord& record, ledger::Batch& batch) {
  Json verdict = judged_json(judged, record.card);
  verdict.erase("tables");
  record.parts["verdict"] = batch.put(write_json_line(verdict));
  if (!judged.confirmation) return;
  const ConfirmInputs& in = judged.confirmation->in;
  if (in.eval.text) {
    record.parts["eval"] = batch.put(*in.eval.text);
    const Parsed<Json> eval = parse_json(*in.eval.text, in.eval.file);
    if (eval.ok() && eval.value->is_object() && eval.value->contains("machine"))
      record.parts["machine"] = batch.put(write_json_line((*eval.value)["machine"]));
  }
  if (in.student_table)
    record.parts["student_table"] = batch.put(write_json_line(to_json(*in.student_table)));
  if (in.ref_table) record.parts["ref_table"] = batch.put(write_json_line(to_json(*in.ref_table)));
}

Parsed<Banked> bank_record(ledger::RunRecord record, ledger::Batch batch, const BankOptions& options,
                           const Card& card) {
  const std::string where = options.ledger.empty() ? card_ledger(card) : options.ledger;
  auto opened = ledger::Ledger::open(where, ledger::Access::write);
  if (!opened.ok()) return {std::nullopt, opened.diagnostics};
  if (!options.corrects.empty()) {
    const auto old = opened.value->find(options.corrects, record.card);
    if (!old.ok()) return {std::nullopt, old.diagnostics};
    record.corrects = old.value->record.ident;
  }
  record.note = options.note;
  stamp(record);
  Banked banked{0, record.ident, record.outcome, ledger::shown_place(where)};
  batch.runs.push_back(std::move(record));
  const auto added = opened.value->add(batch);
  if (!added.ok()) return {std::nullopt, added.diagnostics};
  banked.id = added.value->ids.front();
  return {std::move(banked), {}};
}

Parsed<Banked> bank(const Judged& judged, const BankOptions& options) {
  if (!judged.card || (!judged.confirmation && judged.status != kExitRefused))
    return failed<Banked>(diagnose("ledger-not-judged", "nothing was judged, so nothing is banked"));
  ledger::Batch batch;
  ledger::RunRecord record;
  std::map<std::string, std::string> ran;
  if (judged.confirmation) {
    record = ledger::record_of(*judged.confirmation, judged.card->name);
    if (const auto& origin = judged.confirmation->in.eval.origin) ran = origin->files;
  } else {
    record.card = judged.card->name;
    record.outcome = "refused";
  }
  if (!options.outcome.empty()) record.outcome = options.outcome;
  record.name = judged.files.run;
  put_code(*judged.card, ran, record, batch);
  put_parts(judged, record, batch);
  return bank_record(std::move(record), std::move(batch), options, *judged.card);
}

Parsed<Banked> bank_unmeasured(const Card& card, const std::string& outcome, const Json& verdict,
                               const BankOptions& options) {
  ledger::Batch batch;
  ledger::RunRecord record;
  record.card = card.name;
  record.outcome = outcome;
  put_code(card, {}, record, batch);
  record.parts["verdict"] = batch.put(write_json_line(verdict));
  return bank_record(std::move(record), std::move(batch), options, card);
}

}  // namespace plumbline::cli
