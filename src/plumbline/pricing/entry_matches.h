// SPDX-License-Identifier: Apache-2.0
// Every priced entry against every row, once: credit, warnings and marks all read this value.
#pragma once

#include <cstdint>
#include <vector>

#include "plumbline/contract/contract.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// What an entry's regex finds in one row.
enum class RowMatch : std::uint8_t {
  none,
  name,       ///< in the kernel's name: the row pays
  arguments,  ///< only inside template arguments or parameters: it pays, and is doubted
  truncated,  ///< in a name that the profiler cut: it never pays
  limit,      ///< the pattern backtracks past the match limit
};

/// True for the two that pay.
inline bool pays(RowMatch match) { return match == RowMatch::name || match == RowMatch::arguments; }

/// One entry against the rows of both tables, in their order.
struct EntryMatches {
  PricedEntry entry;
  std::vector<RowMatch> student;
  std::vector<RowMatch> reference;

  /// The rows of the side that pays, and of the other one.
  const std::vector<RowMatch>& own() const { return entry.payer == Payer::student ? student : reference; }
  const std::vector<RowMatch>& other() const { return entry.payer == Payer::student ? reference : student; }
};

/// All priced entries with a regex, in file order; none of an undeclared contract. A table may be null.
std::vector<EntryMatches> match_entries(const WindowContract& contract, const KernelTable* student,
                                        const KernelTable* reference);

}  // namespace plumbline
