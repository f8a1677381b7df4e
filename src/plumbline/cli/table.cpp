// SPDX-License-Identifier: Apache-2.0
// `plumbline table show|diff`: kernel tables, and what moved between two.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/table.h"
#include "plumbline/profile/import.h"
#include "plumbline/report/kernel_table_view.h"
#include "plumbline/table/diff.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string first;
  std::string second;
  bool md = false;
  ImportOptions import;
};

Json side_json(const std::optional<DiffSide>& side) {
  if (!side) return nullptr;
  return {{"launches", side->launches},
          {"launches_per_call", side->launches_per_call},
          {"time_ns", side->time_ns},
          {"time_ns_per_call", side->time_ns_per_call},
          {"name", side->name}};
}

Json diff_json(const TableDiff& diff) {
  Json rows = Json::array();
  for (const DiffRow& row : diff.rows) {
    rows.push_back({{"identity", row.identity},
                    {"before", side_json(row.before)},
                    {"after", side_json(row.after)},
                    {"delta_ns", row.delta_ns},
                    {"ambiguous", row.ambiguous}});
  }
  return {{"rows", rows},
          {"per_call", diff.per_call},
          {"before_ns", diff.before_ns},
          {"after_ns", diff.after_ns},
          {"caution", diff.caution}};
}

std::optional<KernelTable> load(const Io& io, const std::string& file, const ImportOptions& options) {
  Parsed<KernelTable> table = import_profile(file, options);
  io.report(table.diagnostics);
  return std::move(table.value);
}

int show(const Io& io, const Options& options) {
  const auto table = load(io, options.first, options.import);
  if (!table) return kExitUsage;
  return put_table(io, *table, {}, options.md);
}

int diff(const Io& io, const Options& options) {
  const auto before = load(io, options.first, options.import);
  const auto after = load(io, options.second, options.import);
  if (!before || !after) return kExitUsage;
  const TableDiff result = diff_tables(*before, *after);
  if (io.json) {
    io.print_json(diff_json(result));
  } else if (options.md) {
    io.print(render_table_diff_markdown(result));
  } else {
    io.print(render_table_diff(result, io.look()));
  }
  return kExitOk;
}

}  // namespace

int put_table(const Io& io, const KernelTable& table, const std::string& output, bool md) {
  if (!output.empty()) {
    const Diagnostics written = write_file(output, write_json(to_json(table)));
    io.report(written);
    if (has_errors(written)) return kExitUsage;
  }
  if (io.json) {
    io.print_json(to_json(table));
  } else if (md) {
    io.print(render_kernel_table_markdown(table));
  } else {
    io.print(render_kernel_table(table, io.look()));
  }
  return kExitOk;
}

void add_table(Args& root) {
  Args table = root.subcommand("table", "a kernel table; two tables joined by their kernels");
  auto one = std::make_shared<Options>();
  Args args = table.subcommand("show", "the kernels of a table, or of any profiler's file");
  args.positional("FILE", one->first, "a kernel table or any importable profiler file")
      .option("--device", one->import.device, "the GPU, by index, where the file has several")
      .flag("--md", one->md, "as Markdown, bounded")
      .example("plumbline table show runs/price/student.table.json");
  args.run([one](const Io& io) { return show(io, *one); });

  auto two = std::make_shared<Options>();
  Args other = table.subcommand("diff", "what moved between two tables");
  other.positional("BEFORE", two->first, "a kernel table or any importable profiler file")
      .positional("AFTER", two->second, "the other one")
      .option("--device", two->import.device, "the GPU, by index, where a file has several")
      .flag("--md", two->md, "as Markdown, bounded")
      .example("plumbline table diff ref.csv student.csv");
  other.run([two](const Io& io) { return diff(io, *two); });
}

}  // namespace plumbline::cli
