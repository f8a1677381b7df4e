// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/exchange.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "plumbline/base/csv.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/ledger/hex.h"

namespace plumbline::ledger {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kPage = 500;
constexpr std::size_t kMostBatchBytes = 64U << 20;

/// Goes over the runs page by page, so that a million of them need no memory.
Diagnostics each_run(Ledger& ledger, const std::string& card,
                     const std::function<Diagnostics(StoredRun&)>& visit) {
  for (std::int64_t after = 0;;) {
    const auto ids = ledger.ids_after(after, kPage);
    if (!ids.ok()) return ids.diagnostics;
    if (ids.value->empty()) return {};
    for (const std::int64_t id : *ids.value) {
      after = id;
      auto run = ledger.load(id);
      if (!run.ok()) return run.diagnostics;
      if (!card.empty() && run.value->record.card != card) continue;
      const Diagnostics messages = visit(*run.value);
      if (!messages.empty()) return messages;
    }
  }
}

Json document_line(const Document& document) {
  Json line = {{"document", document.hash}};
  if (document.collected || !document.content) {
    line["bytes"] = document.bytes;
  } else if (first_invalid_utf8(*document.content)) {
    line["hex"] = to_hex(*document.content);
  } else {
    line["text"] = *document.content;
  }
  return line;
}

Diagnostics stopped() { return {diagnose("file-unwritable", "the output could not be written")}; }

Diagnostics wrong(const Location& where, std::string words) {
  return {diagnose("ledger-line", std::move(words), where)};
}

Diagnostics read_document(const Json& json, const Location& where, Batch& batch) {
  const Json& hash = json["document"];
  if (!hash.is_string() || hash.get<std::string>().size() != 64)
    return wrong(where, "document is not a SHA-256");
  const std::string name = hash.get<std::string>();
  std::string content;
  if (json.contains("text") && json["text"].is_string()) {
    content = json["text"].get<std::string>();
  } else if (json.contains("hex") && json["hex"].is_string()) {
    const std::string hex = json["hex"].get<std::string>();
    if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
      return wrong(where, "hex is not hexadecimal");
    content = from_hex(hex);
  } else if (json.contains("bytes") && json["bytes"].is_number_unsigned()) {
    if (name.find_first_not_of("0123456789abcdef") != std::string::npos)
      return wrong(where, "document is not a SHA-256");
    batch.collected[name] = json["bytes"].get<std::int64_t>();
    return {};
  } else {
    return wrong(where, "a document has no text");
  }
  if (batch.put(std::move(content)) != name) {
    return wrong(where, fmt::format("the document is not what its hash {} names", printable(name)));
  }
  return {};
}

}  // namespace

Diagnostics export_lines(Ledger& ledger, const std::string& card, const Sink& sink) {
  std::unordered_set<std::string> written;
  if (!sink(fmt::format("{{\"plumbline_ledger\":{}}}\n", kFormat))) return stopped();
  return each_run(ledger, card, [&](StoredRun& run) -> Diagnostics {
    std::vector<std::string> names;
    for (const auto& [kind, hash] : run.record.parts) names.push_back(hash);
    for (const auto& [path, hash] : run.record.code.files) names.push_back(hash);
    for (const std::string& hash : names) {
      if (!written.insert(hash).second) continue;
      const auto document = ledger.document(hash);
      if (!document.ok()) return document.diagnostics;
      if (!sink(write_json_line(document_line(*document.value)) + "\n")) return stopped();
    }
    if (!sink(write_json_line({{"run", to_json(run.record)}}) + "\n")) return stopped();
    return {};
  });
}

Diagnostics export_csv(Ledger& ledger, const std::string& card, const Sink& sink) {
  bool begun = false;  // a ledger that cannot be read gives no header either
  const auto begin = [&] {
    if (begun) return true;
    begun = true;
    return sink(
        "run,ident,card,made_at,name,outcome,gate,raw_ratio,raw_low,raw_high,credited_ratio,student_ms,ref_"
        "ms,"
        "prep_ms,gpu,driver,window,harness,student,corrects,corrected_by,note\n");
  };
  Diagnostics messages = each_run(ledger, card, [&](StoredRun& run) -> Diagnostics {
    if (!begin()) return stopped();
    const RunRecord& r = run.record;
    std::string line = std::to_string(run.id);
    const auto text = [&](const std::string& value) { line.append(",").append(csv_cell(value)); };
    const auto number = [&](const std::optional<double>& value) { text(value ? format_double(*value) : ""); };
    for (const auto* value : {&r.ident, &r.card, &r.made_at, &r.name, &r.outcome}) text(*value);
    for (const auto* value : {&r.gate, &r.raw_ratio, &r.raw_low, &r.raw_high, &r.credited_ratio,
                              &r.student_ms, &r.ref_ms, &r.prep_ms}) {
      number(*value);
    }
    for (const auto* value : {&r.series.gpu, &r.series.driver, &r.series.timed, &r.series.harness,
                              &r.code.student, &r.corrects}) {
      text(*value);
    }
    text(run.corrected_by ? std::to_string(*run.corrected_by) : "");
    text(r.note);
    return sink(line + "\n") ? Diagnostics{} : stopped();
  });
  if (messages.empty() && !begin()) return stopped();
  return messages;
}

Diagnostics read_line(std::string_view line, const Location& where, Batch& batch) {
  if (trim(line).empty()) return {};
  Parsed<Json> json = parse_json(line, where.file);
  if (!json.ok()) {
    for (Diagnostic& d : json.diagnostics) d.line = where.line;
    return json.diagnostics;
  }
  if (!json.value->is_object()) return wrong(where, "the line is not an object");
  if (const auto format = json.value->find("plumbline_ledger"); format != json.value->end()) {
    if (*format == kFormat) return {};
    return {diagnose("ledger-newer", "the file has a format that this plumbline does not know", where)};
  }
  if (json.value->contains("document")) return read_document(*json.value, where, batch);
  if (!json.value->contains("run")) return wrong(where, "the line is neither a document nor a run");
  Parsed<RunRecord> record = record_from_json((*json.value)["run"], where);
  if (!record.ok()) return record.diagnostics;
  batch.runs.push_back(std::move(*record.value));
  return {};
}

Parsed<Imported> import_lines(Ledger& ledger, const std::string& file, const NextLine& next,
                              std::size_t batch_runs, const std::function<bool(std::int64_t)>& acknowledge) {
  Imported imported;
  Batch batch;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Diagnostics {
    if (batch.runs.empty() && batch.documents.empty() && batch.collected.empty()) return {};
    const auto added = ledger.add(batch);
    if (!added.ok()) return added.diagnostics;
    imported.added += added.value->ids.size() - added.value->already;
    imported.already += added.value->already;
    if (acknowledge) {
      for (const std::int64_t id : added.value->ids) {
        if (!acknowledge(id)) return stopped();
      }
    }
    batch = {};
    bytes = 0;
    return {};
  };
  std::string line;
  for (int number = 1; next(line); ++number) {
    Diagnostics messages = read_line(line, {file, number, 1}, batch);
    if (messages.empty() && (batch.runs.size() >= batch_runs || (bytes += line.size()) > kMostBatchBytes))
      messages = flush();
    if (has_errors(messages)) return {std::nullopt, std::move(messages)};
  }
  if (Diagnostics messages = flush(); !messages.empty()) return {std::nullopt, std::move(messages)};
  return {imported, {}};
}

}  // namespace plumbline::ledger
