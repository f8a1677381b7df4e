// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger export|import`: JSON Lines and CSV.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "plumbline/base/files.h"
#include "plumbline/cli/ledger_commands.h"
#include "plumbline/cli/progress.h"
#include "plumbline/ledger/exchange.h"
#include "plumbline/ledger/measured_rows.h"

namespace plumbline::cli {
namespace {

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kLongestLine = 256U << 20;

struct ExportOptions {
  LedgerPlace place;
  std::string output;
  std::string format = "jsonl";
  std::string rows;  ///< a folder for measured rows
  std::string gpu;
  std::string side = "reference";
};

/// Readings as files of rows for `hardware calibrate`.
int export_rows(const Io& io, ledger::Ledger& ledger, const ExportOptions& options) {
  const auto made =
      ledger::measured_rows(ledger, {card_name_of(options.place), options.gpu, options.side == "student"});
  io.report(made.diagnostics);
  if (!made.ok()) return kExitUsage;
  std::error_code failure;
  std::filesystem::create_directories(options.rows, failure);
  Json files = Json::array();
  for (const auto& [name, text] : made.value->files) {
    const std::string path = (std::filesystem::path(options.rows) / name).string();
    const Diagnostics written = write_file(path, text);
    io.report(written);
    if (has_errors(written)) return kExitUsage;
    files.push_back(path);
  }
  const ledger::MeasuredFiles& m = *made.value;
  if (io.json) {
    io.print_json({{"gpu", m.gpu},
                   {"files", files},
                   {"rows", m.rows},
                   {"readings", m.readings},
                   {"without_shape", m.shapeless},
                   {"per_call", m.host_timed},
                   {"other_gpus", m.other_gpus}});
    return kExitOk;
  }
  std::string out =
      fmt::format("{} rows of {} readings on {}, the {}'s times:\n", m.rows, m.readings, m.gpu, options.side);
  for (const Json& file : files) out += "  " + file.get<std::string>() + "\n";
  out +=
      fmt::format("left out: {} readings without a shape that is modelled, {} per-call, {} of other GPUs\n",
                  m.shapeless, m.host_timed, m.other_gpus);
  io.print(out);
  return kExitOk;
}

int export_ledger(const Io& io, const ExportOptions& options) {
  auto ledger = open_ledger(io, options.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  if (!options.rows.empty()) return export_rows(io, *ledger, options);
  // A long export goes out as it is read.
  std::optional<OutputFile> file;
  if (!options.output.empty()) file.emplace(options.output);
  const ledger::Sink sink = [&](std::string_view text) {
    if (file) return file->write(text);
    io.print_document(text);
    return std::ferror(stdout) == 0;
  };
  const std::string card = card_name_of(options.place);
  Diagnostics messages = options.format == "csv" ? ledger::export_csv(*ledger, card, sink)
                                                 : ledger::export_lines(*ledger, card, sink);
  if (file && (messages.empty() || messages.back().code == "file-unwritable")) messages = file->commit();
  io.report(messages);
  return messages.empty() ? kExitOk : kExitUsage;
}

struct ImportOptions {
  LedgerPlace place;
  std::string file;
  bool each = false;
};

enum class Line { whole, none, too_long };

/// std::getline with a limit: a file without line breaks must not fill the memory.
Line next_line(std::istream& in, std::string& line) {
  using Traits = std::char_traits<char>;
  std::streambuf& buffer = *in.rdbuf();
  line.clear();
  for (Traits::int_type c = buffer.sbumpc(); c != Traits::eof(); c = buffer.sbumpc()) {
    if (c == '\n') return Line::whole;
    if (line.size() == kLongestLine) return Line::too_long;
    line += Traits::to_char_type(c);
  }
  return line.empty() ? Line::none : Line::whole;
}

int import_ledger(const Io& io, const ImportOptions& options) {
  std::ifstream stream;
  std::uint64_t bytes = 0;  // of the file, where it has a size
  if (options.file != "-") {
    struct stat facts {};
    if (stat(options.file.c_str(), &facts) != 0) {
      io.report({diagnose("file-missing", "there is no such file", {options.file, 0, 0})});
      return kExitUsage;
    }
    if (!S_ISREG(facts.st_mode)) {
      const char* kind = S_ISDIR(facts.st_mode) ? "this is a folder" : "this is not a regular file";
      io.report({diagnose("file-not-regular", kind, {options.file, 0, 0})});
      return kExitUsage;
    }
    bytes = static_cast<std::uint64_t>(facts.st_size);
    stream.open(options.file, std::ios::binary);
  }
  std::istream& in = options.file == "-" ? std::cin : stream;
  auto ledger = open_ledger(io, options.place, ledger::Access::write);
  if (!ledger) return kExitUsage;
  bool too_long = false;
  std::optional<Progress> progress(std::in_place, io, "importing " + options.file, "bytes");
  std::uint64_t read = 0;
  const ledger::NextLine next = [&](std::string& line) {
    const Line end = next_line(in, line);
    read += line.size() + 1;
    progress->update(read, bytes);
    too_long = end == Line::too_long;
    return end == Line::whole;
  };
  std::function<bool(std::int64_t)> acknowledge;
  if (options.each) {
    acknowledge = [&](std::int64_t id) {
      io.print(fmt::format("{}\n", id));
      return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    };
  }
  const auto imported = ledger::import_lines(*ledger, options.file == "-" ? "<stdin>" : options.file, next,
                                             options.each ? 1 : kBatch, acknowledge);
  progress.reset();  // gone before anything is reported
  io.report(imported.diagnostics);
  if (too_long) {
    io.report({diagnose("file-too-large", fmt::format("a line has more than {} MiB", kLongestLine >> 20),
                        {options.file, 0, 0})});
  }
  if (!imported.ok() || too_long) return kExitUsage;
  if (options.each) return kExitOk;
  if (io.json) {
    io.print_json({{"added", imported.value->added}, {"already", imported.value->already}});
  } else {
    io.print(fmt::format("{} runs added, {} were there already\n", imported.value->added,
                         imported.value->already));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_exchange(Args& ledger) {
  auto out = std::make_shared<ExportOptions>();
  Args args = ledger.subcommand("export", "the runs with their documents as JSON Lines, or as CSV");
  args.positional("CARD", out->place.card, "a card's folder or name (default: every card)", false)
      .option("-o,--output", out->output, "the file to write (default: standard output)")
      .choice("--format", out->format, {"jsonl", "csv"}, "jsonl holds everything and imports again")
      .option("--rows", out->rows, "write measured rows for `hardware calibrate` into this folder instead")
      .choice("--side", out->side, {"reference", "student"}, "whose times the rows are (reference)")
      .option("--gpu", out->gpu, "the rows of this GPU (that of the newest reading)");
  add_ledger_option(args, out->place.ledger);
  args.example("plumbline ledger export operators/attention_backward -o runs.jsonl");
  args.run([out](const Io& io) { return export_ledger(io, *out); });

  auto in = std::make_shared<ImportOptions>();
  Args other = ledger.subcommand("import", "adds what another ledger exported; what is there already stays");
  other.positional("FILE", in->file, "JSON Lines of `ledger export`; - reads standard input")
      .option("--card", in->place.card, "into the ledger of this card")
      .flag("--each", in->each,
            "every run is a transaction of its own; its number is printed once it is durable");
  add_ledger_option(other, in->place.ledger);
  other.example("plumbline ledger import runs.jsonl --ledger team.db");
  other.run([in](const Io& io) { return import_ledger(io, *in); });
}

}  // namespace plumbline::cli
