// SPDX-License-Identifier: Apache-2.0
// The tables that nsys stats and `nsys profile --stats=true` print for people: columns of blanks under a line
// of dashes, thousands grouped by commas, text cut with "…".
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/nsys_table.h"

namespace plumbline::profile {
namespace {

bool is_header_line(std::string_view line) {
  line = trim(line);
  if (line.find(',') != std::string_view::npos) return false;
  const bool summary = (line.starts_with("Time (%) ") || line.starts_with("Time(%) ")) &&
                       line.find("Total Time") != std::string_view::npos;
  return summary ||
         ((line.starts_with("Start (") || line.starts_with("Start(")) &&
          line.find("Dur") != std::string_view::npos && line.find("Name") != std::string_view::npos);
}

/// A line of dashes and blanks only.
bool is_rule(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.find_first_not_of("- ") == std::string_view::npos;
}

/// A column's place on the line, in characters; the last one is open.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Extent> extents_of(std::string_view rule) {
  std::vector<Extent> out;
  for (std::size_t at = rule.find('-'); at != std::string_view::npos; at = rule.find('-', at)) {
    const std::size_t end = std::min(rule.find(' ', at), rule.size());
    out.push_back({at, end});
    at = end;
  }
  return out;
}

/// The offset of the character `index`: "…" and "µ" are several bytes.
std::size_t byte_of(std::string_view line, std::size_t index) {
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    if ((static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) continue;
    if (index-- == 0) break;
  }
  return at;
}

std::vector<std::string_view> cells_at(std::string_view line, const std::vector<Extent>& extents) {
  std::vector<std::string_view> out;
  const bool ascii =
      std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) > 127; });
  const auto place = [&](std::size_t index) {
    return ascii ? std::min(index, line.size()) : byte_of(line, index);
  };
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t begin = place(extents[i].begin);
    const std::size_t end = i + 1 == extents.size() ? line.size() : place(extents[i].end);
    out.push_back(trim(line.substr(begin, end - begin)));
  }
  return out;
}

/// Cells between stretches of two blanks or more.
std::vector<std::string_view> titles_of(std::string_view line) {
  std::vector<std::string_view> out;
  line = trim(line);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    out.push_back(trim(line.substr(0, end)));
    line = trim(line.substr(end));
  }
  return out;
}

/// A row of a summary whose rule of dashes was not kept: a word a column (three for "GridXYZ"), then the
/// name.
std::vector<std::string_view> words_of(std::string_view line, const std::vector<std::string>& titles) {
  std::vector<std::string_view> out;
  line = trim(line);
  for (std::size_t i = 0; i + 1 < titles.size() && !line.empty(); ++i) {
    std::size_t end = 0;
    for (int words = titles[i].ends_with("XYZ") ? 3 : 1; words > 0; --words) {
      end = line.find_first_not_of(' ', end);
      if (end != std::string_view::npos) end = line.find(' ', end);
      if (end == std::string_view::npos) break;
    }
    end = std::min(end, line.size());
    out.push_back(line.substr(0, end));
    line = trim(line.substr(end));
  }
  out.push_back(line);
  return out;
}

class ConsoleParser {
 public:
  ConsoleParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path),
        lines_(std::move(source)),
        collector_("nsys-console", path, options),
        rows_(collector_, path) {
    if (!options.range.empty()) {
      fail(diagnose("import-no-ranges",
                    "nsys stats' tables have no ranges: import the SQLite export with --range", {path}));
    }
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && lines_.next_line()) take_line();
    if (lines_.error()) fail(*lines_.error());
    if (!failed_ && table_line_ == 0) report_no_table();
    if (failed_) return {std::nullopt, std::move(diagnostics_)};
    rows_.finish(lines_.open_end(), lines_.line_number());
    return collector_.finish();
  }

 private:
  enum class State { outside, header, rows };

  void fail(Diagnostic diagnostic) {
    diagnostics_.push_back(std::move(diagnostic));
    failed_ = true;
  }

  void report_no_table() {
    if (skipped_line_ != 0) {
      return fail(diagnose("import-no-kernels", "nsys stats found no CUDA kernel data in its report",
                           {path_, skipped_line_, 1}));
    }
    fail(diagnose("nsys-other-report", "no kernel summary and no GPU trace among these tables of nsys stats",
                  {path_, other_line_, other_line_ == 0 ? 0 : 1}));
  }

  void take_line() {
    const std::string_view line = lines_.line();
    if (is_header_line(line)) {
      header_ = line;
      header_line_ = lines_.line_number();
      state_ = State::header;
    } else if (trim(line).empty()) {
      if (state_ == State::rows) state_ = State::outside;
    } else if (state_ == State::header) {
      open_table(line);
    } else if (state_ == State::rows) {
      take_row(line);
    } else if (line.find("does not contain CUDA kernel data") != std::string_view::npos) {
      skipped_line_ = lines_.line_number();
    }
  }

  /// The line behind a header: its rule, or the first row where the rule was not kept.
  void open_table(std::string_view line) {
    state_ = State::rows;
    const bool ruled = is_rule(line);
    extents_ = ruled ? extents_of(line) : std::vector<Extent>();
    std::vector<std::string_view> titles = ruled ? cells_at(header_, extents_) : titles_of(header_);
    NsysTable table = nsys_table(titles);
    if (ruled && table.report == NsysReport::other) {  // blanks were squeezed: the rule tells no places
      titles = titles_of(header_);
      const NsysTable squeezed = nsys_table(titles);
      if (squeezed.report != NsysReport::other) {
        extents_.clear();
        table = squeezed;
      }
    }
    titles_.assign(titles.begin(), titles.end());
    counts_ = table.report != NsysReport::other;
    if (!counts_) {
      other_line_ = header_line_;
    } else if (table_line_ != 0) {
      return fail(diagnose(
          "nsys-other-report",
          fmt::format(
              "a second table of kernels (the first is on line {}): the same kernels would count twice",
              table_line_),
          {path_, header_line_, 1}));
    } else if (extents_.empty() && table.report == NsysReport::trace) {
      return fail(diagnose("nsys-console", "without the line of dashes the cells of this trace have no place",
                           {path_, header_line_, 1}));
    } else {
      table_line_ = header_line_;
      table.columns.grouped = true;
      collector_.set_has_order(table.report == NsysReport::trace);
      collector_.set_sees_copies(table.report == NsysReport::trace);
      if (auto problem = rows_.begin(table.columns, header_line_)) return fail(std::move(*problem));
    }
    if (!ruled) take_row(line);
  }

  void take_row(std::string_view line) {
    if (!counts_) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      return;
    }
    const std::string_view front = trim(line);
    if (front.front() != '-' && (front.front() < '0' || front.front() > '9')) {
      state_ = State::outside;  // the tool's next message; a lost row is seen by the shares
      return;
    }
    const auto cells = extents_.empty() ? words_of(line, titles_) : cells_at(line, extents_);
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
      if (cells[i].find("…") == std::string_view::npos) continue;
      return fail(diagnose("nsys-console", fmt::format("a cell of \"{}\" is cut", printable(titles_[i])),
                           {path_, lines_.line_number(), 1}));
    }
    if (auto problem = rows_.take(cells, lines_.line_number())) fail(std::move(*problem));
  }

  const std::string& path_;
  CsvReader lines_;
  Collector collector_;
  TableRows rows_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  State state_ = State::outside;
  bool counts_ = false;  ///< the table holds kernels
  std::string header_;
  int header_line_ = 0;
  std::vector<std::string> titles_;
  std::vector<Extent> extents_;
  int table_line_ = 0;
  int other_line_ = 0;
  int skipped_line_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  return any_line(head, [](std::string_view line, std::string_view) { return is_header_line(line); });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return ConsoleParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNsysConsole = {
    "nsys-console", "the tables that nsys stats and nsys profile --stats=true print on the console", detect,
    parse};

}  // namespace plumbline::profile
