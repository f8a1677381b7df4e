// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/submission.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/hardware/row_cells.h"

namespace plumbline {
namespace {

constexpr std::string_view kFormat = "# plumbline-submission/1";
constexpr std::string_view kHash = "# sha256: ";
constexpr std::string_view kTable = "# table: ";

/// The text above the last line, which holds the hash; nothing where the last line is another.
std::optional<std::pair<std::string_view, std::string_view>> split_hash(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  const std::size_t at = text.rfind('\n');
  if (at == text.npos || !text.substr(at + 1).starts_with(kHash)) return std::nullopt;
  return std::pair(text.substr(0, at + 1), trim(text.substr(at + 1 + kHash.size())));
}

/// Head and tables of the text above the hash.
void split_tables(std::string_view text, Submission& out) {
  int number = 0;
  std::string_view line;
  while (!text.empty()) {
    const char* begin = text.data();
    next_line(text, line);
    ++number;
    if (line.starts_with(kTable)) {
      out.tables.push_back({std::string(trim(line.substr(kTable.size()))), {text.data(), 0}, number + 1});
    } else if (!out.tables.empty()) {
      std::string_view& table = out.tables.back().text;
      table = {table.data(), table.size() + static_cast<std::size_t>(text.data() - begin)};
    } else if (line.starts_with("# ")) {
      const std::size_t colon = line.find(": ");
      if (colon != line.npos)
        out.about.emplace(std::string(line.substr(2, colon - 2)), std::string(trim(line.substr(colon + 2))));
    }
  }
}

Diagnostics check_window(const Submission& submission, const std::string& file) {
  Diagnostics found;
  for (const std::string_view part : {"window.host", "window.allocation"}) {
    const std::string& stated = submission.of(part);
    if (stated == "outside") continue;
    found.push_back(
        diagnose("submission-window",
                 fmt::format("{} is '{}': only times without it are predicted", part, printable(stated)),
                 {file, 0, 0}));
  }
  const std::string& quantised = submission.of("window.quantisation");
  if (quantised != "outside" && quantised != "inside") {
    found.push_back(diagnose(
        "submission-window",
        fmt::format("window.quantisation is '{}': inside or outside is needed", printable(quantised)),
        {file, 0, 0}));
  }
  return found;
}

}  // namespace

bool is_submission(std::string_view text) { return text.starts_with(kFormat); }

Parsed<Submission> read_submission(std::string_view text, const std::string& file) {
  const auto fail = [&](std::string_view code, std::string why) {
    return failed<Submission>(diagnose(code, std::move(why), {file, 0, 0}));
  };
  const auto parts = split_hash(text);
  if (!parts) return fail("submission-damaged", "the last line is not the file's SHA-256: it was cut short");
  Submission out;
  out.sha256 = sha256_hex(parts->first);
  if (out.sha256 != parts->second) {
    return fail("submission-damaged",
                fmt::format("its SHA-256 is {}…, its last line says {}…", out.sha256.substr(0, 12),
                            printable(parts->second.substr(0, 12))));
  }
  split_tables(parts->first, out);
  std::string missing;
  for (const std::string_view key : kSubmissionKeys) {
    const auto at = out.about.find(key);
    if (at == out.about.end() || at->second.empty())
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", key);
  }
  if (!missing.empty()) return fail("submission-incomplete", fmt::format("it does not say: {}", missing));
  if (out.tables.empty()) return fail("submission-incomplete", "it holds no table");
  if (Diagnostics found = check_window(out, file); !found.empty()) return {std::nullopt, std::move(found)};
  return {std::move(out), {}};
}

bool is_card(const Submission& submission, std::string_view hardware, const DataSheet& sheet) {
  if (submission.of("sms") != std::to_string(sheet.sm_count)) return false;
  std::string name = to_lower(submission.of("gpu"));
  std::replace(name.begin(), name.end(), '-', ' ');
  const std::string words = fmt::format(" {} ", name);
  return words.find(fmt::format(" {} ", to_lower(hardware))) != words.npos;
}

Diagnostics read_measurements(std::string_view text, const std::string& file, const DataSheet& sheet,
                              MeasuredRows& rows) {
  if (!is_submission(text)) return read_rows(text, file, sheet, rows);
  const auto submission = read_submission(text, file);
  if (!submission.ok()) return submission.diagnostics;
  Diagnostics found;
  for (const SubmissionTable& table : submission.value->tables) {
    for (Diagnostic d : read_rows(table.text, fmt::format("{}:{}", file, table.name), sheet, rows)) {
      d.file = file;
      if (d.line > 0) d.line += table.line - 1;
      found.push_back(std::move(d));
    }
  }
  return found;
}

}  // namespace plumbline
