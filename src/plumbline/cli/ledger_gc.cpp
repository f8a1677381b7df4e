// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger gc --older-than 90d`: gives the room of old documents back; no row goes.
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/cli/ledger_commands.h"
#include "plumbline/ledger/collect.h"

namespace plumbline::cli {
namespace {

struct GcOptions {
  LedgerPlace place;
  std::string age;
  bool dry = false;
};

/// "90d", "12h" → seconds.
std::optional<std::int64_t> seconds_of(std::string_view age) {
  if (age.size() < 2) return {};
  const auto number = parse_int(age.substr(0, age.size() - 1));
  if (!number || *number < 0 || *number > 1'000'000) return {};
  if (age.back() == 'd') return *number * 86'400;
  if (age.back() == 'h') return *number * 3'600;
  return {};
}

int gc(const Io& io, const GcOptions& options) {
  const auto seconds = seconds_of(options.age);
  if (!seconds) {
    io.report({diagnose("usage", "--older-than takes a number of days or hours: 90d, 12h")});
    return kExitUsage;
  }
  auto ledger = open_ledger(io, options.place, options.dry ? ledger::Access::read : ledger::Access::write);
  if (!ledger) return kExitUsage;
  const std::time_t limit = std::time(nullptr) - *seconds;
  std::tm parts{};
  gmtime_r(&limit, &parts);
  std::array<char, 32> text{};
  const std::string at(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  const auto taken = ledger::collect(*ledger, at, options.dry);
  io.report(taken.diagnostics);
  if (!taken.ok()) return kExitUsage;
  if (io.json) {
    io.print_json({{"runs", taken.value->runs},
                   {"documents", taken.value->documents},
                   {"bytes", taken.value->bytes},
                   {"dry_run", options.dry}});
  } else {
    io.print(fmt::format("{} runs were made before {}: {} documents, {} bytes {}\n", taken.value->runs, at,
                         taken.value->documents, format_grouped(taken.value->bytes),
                         options.dry ? "would be taken" : "taken"));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_gc(Args& ledger) {
  auto options = std::make_shared<GcOptions>();
  Args args = ledger.subcommand(
      "gc", "takes the content of evals and tables that only old runs name; rows and hashes stay");
  args.positional("CARD", options->place.card, "the card whose ledger is meant", false)
      .option("--older-than", options->age, "days or hours: 90d, 12h")
      .flag("--dry-run", options->dry, "count only");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger gc operators/attention_backward --older-than 90d --dry-run");
  args.run([options](const Io& io) { return gc(io, *options); });
}

}  // namespace plumbline::cli
