// SPDX-License-Identifier: Apache-2.0
// `plumbline explain CODE`: what a diagnostic means and what to do about it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/codes.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/commands.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string code;
  bool all = false;
  bool md = false;
};

Json to_json(const CodeInfo& info) {
  return {{"code", info.code},
          {"severity", to_string(info.severity)},
          {"area", info.area},
          {"cause", info.cause},
          {"fix", info.fix}};
}

int explain_all(const Io& io, bool md) {
  if (io.json) {
    Json list = Json::array();
    for (const CodeInfo& info : all_codes()) list.push_back(to_json(info));
    io.print_json(list);
  } else if (md) {
    io.print(codes_markdown());
  } else {
    for (const CodeInfo& info : all_codes()) io.print(fmt::format("{:<28} {}\n", info.code, info.cause));
  }
  return kExitOk;
}

int explain(const Io& io, const Options& options) {
  if (options.all) return explain_all(io, options.md);
  const CodeInfo* info = find_code(options.code);
  if (info == nullptr) {
    std::vector<std::string_view> known;
    for (const CodeInfo& each : all_codes()) known.push_back(each.code);
    const auto near = nearest_name(options.code, known);
    io.report(
        {diagnose("usage", fmt::format("no diagnostic code '{}'{}; explain --all lists them", options.code,
                                       near ? fmt::format(", did you mean '{}'?", *near) : ""))});
    return kExitUsage;
  }
  if (io.json) {
    io.print_json(to_json(*info));
  } else {
    io.print(fmt::format("{} ({}, {})\n  when  {}\n  do    {}\n", info->code, to_string(info->severity),
                         info->area, info->cause, info->fix));
  }
  return kExitOk;
}

}  // namespace

void add_explain(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("explain", "what a diagnostic code means and what to do about it");
  args.positional("CODE", options->code, "the slug in brackets at the end of a message", false)
      .flag("--all", options->all, "every code")
      .flag("--md", options->md, "with --all: as Markdown (docs/diagnostics.md)")
      .example("plumbline explain missing-dtype");
  args.run([options](const Io& io) { return explain(io, *options); });
}

}  // namespace plumbline::cli
