// SPDX-License-Identifier: Apache-2.0
// Credit: which share of each side's kernel time the contract prices, and whether that can be trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/contract/contract.h"
#include "plumbline/pricing/entry_matches.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// A table reconciles with its window when busy time / reading lies in 1 ± this (both ends included).
inline constexpr double kCoverageBand = 0.20;

/// What is known of one side when it is priced. Everything may be absent.
struct SideInput {
  const KernelTable* table = nullptr;  ///< no table, or one without rows: nothing can be matched
  std::optional<double> ns_per_call;   ///< the profiler's kernel time of one call of the window
  std::optional<double> reading_ms;    ///< the stopwatch's reading of the same window; 0 counts as absent
};

/// `table` (may be null) with its own time_ns_per_call, beside a reading.
SideInput side_input(const KernelTable* table, std::optional<double> reading_ms);

/// One side of a credit. Times are totals over the profiled region, as in its table.
struct SideCredit {
  bool table = false;                     ///< there is a table with at least one row
  std::vector<std::string> priced;        ///< names of the entries that this side pays, file order
  std::vector<std::string> unmatched;     ///< those whose regex found no launch
  std::vector<std::string> matched;       ///< full names of the kernels found, by code point
  std::vector<std::size_t> matched_rows;  ///< their rows in the table, ascending
  double matched_ns = 0;
  double total_ns = 0;             ///< 0 where the side has no priced entry
  double fraction = 0;             ///< matched_ns / total_ns
  std::optional<double> coverage;  ///< ns_per_call / reading, where both are known and entries are priced
};

/// Why a credit cannot be used. Codes: no-table, regex-unmatched (with the entries' names), unreconciled; and
/// beyond the original's, table-lossy, table-times, launches-uneven (names of kernels), regex-limit
/// (entries).
struct CreditReason {
  std::string code;
  Payer side = Payer::student;
  std::vector<std::string> names;
  std::string message;  ///< the same in words
};

/// What the contract prices on both sides.
struct Credit {
  SideCredit student;
  SideCredit reference;
  std::vector<std::string> unpriced;  ///< price entries without a regex of the side that pays
  std::vector<CreditReason> why;      ///< empty exactly when the credit is usable

  /// Every priced side has a table, every entry matched, and the tables reconcile.
  bool usable() const { return why.empty(); }
  /// The credit of one side.
  const SideCredit& of(Payer side) const { return side == Payer::student ? student : reference; }
};

/// Prices both sides: the credit, or none when the contract is undeclared or prices nothing. Rows of one name
/// count as one kernel, and a kernel that two entries match counts once.
std::optional<Credit> price_credit(const WindowContract& contract, const SideInput& student,
                                   const SideInput& reference);
/// The same with the entries already matched: match_entries() of the same contract and tables.
std::optional<Credit> price_credit(const WindowContract& contract, const std::vector<EntryMatches>& matches,
                                   const SideInput& student, const SideInput& reference);

/// The readings less the priced work, under the formula of the credit: time × (1 − fraction).
struct CreditedTimes {
  double student_ms = 0;
  double ref_ms = 0;
  double raw_ratio = 0;  ///< ref_ms / student_ms
  double student_fraction = 0;
  double reference_fraction = 0;
  double credited_student_ms = 0;
  double credited_ref_ms = 0;
  double credited_ratio = 0;
};

/// None when the credit is not usable, a reading is missing or 0, or a credited time is not positive.
std::optional<CreditedTimes> credited_times(const Credit& credit, std::optional<double> student_ms,
                                            std::optional<double> ref_ms);

/// What a reader should doubt although the credit may be usable: regex-in-arguments (a pattern that is found
/// only inside template arguments or parameters of the names) and regex-other-side (it also finds launches of
/// the side that does not claim the work). Warnings only, at the regex in the contract. The tables are those
/// that were matched.
Diagnostics credit_warnings(const WindowContract& contract, const std::vector<EntryMatches>& matches,
                            const KernelTable* student, const KernelTable* reference);

/// For each of `rows` rows of one side's table the names of the entries that it pays for, joined: "out, lse";
/// "" where none.
std::vector<std::string> entries_by_row(const std::vector<EntryMatches>& matches, Payer side,
                                        std::size_t rows);

/// The `credit` document: {student, reference, unpriced, usable, why[, reconciliation]}.
Json to_json(const Credit& credit);
/// The `credited` document.
Json to_json(const CreditedTimes& times);

}  // namespace plumbline
