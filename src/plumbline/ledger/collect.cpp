// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/collect.h"

#include <fmt/format.h>

namespace plumbline::ledger {
namespace {

/// The documents that runs on one side of the limit name.
std::string named(std::string_view comparison) {
  std::string out;
  for (const char* column : {"eval_id", "student_table_id", "ref_table_id", "machine_id"}) {
    out += fmt::format("{}SELECT {} FROM runs WHERE made_at {} $1 AND {} IS NOT NULL",
                       out.empty() ? "" : " UNION ", column, comparison, column);
  }
  return out;
}

}  // namespace

Parsed<Collected> collect(Ledger& ledger, const std::string& limit, bool dry) {
  Connection& connection = ledger.connection();
  Collected seen;
  const std::string old =
      fmt::format("packed IS NOT NULL AND id IN ({}) AND id NOT IN ({})", named("<"), named(">="));
  const Param at{std::string_view(limit)};
  const bool done = transact(connection, [&] {
    connection.run("SELECT count(*) FROM runs WHERE made_at < $1", {at},
                   [&](const RowView& row) { seen.runs = row.integer(0); });
    connection.run("SELECT count(*), sum(length(packed)) FROM parts WHERE " + old, {at},
                   [&](const RowView& row) {
                     seen.documents = row.integer(0);
                     seen.bytes = row.integer(1);
                   });
    return dry ? !connection.failure() : connection.run("UPDATE parts SET packed = NULL WHERE " + old, {at});
  });
  if (done && !dry && seen.documents > 0) connection.script("VACUUM");
  if (connection.failure()) {
    Diagnostic why = *connection.failure();
    if (why.file.empty()) why.file = shown_place(ledger.where());
    connection.rollback();
    return failed<Collected>(std::move(why));
  }
  return {seen, {}};
}

}  // namespace plumbline::ledger
