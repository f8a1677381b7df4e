// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/entry_matches.h"

#include "plumbline/pricing/matcher.h"
#include "plumbline/table/cpp_name.h"

namespace plumbline {
namespace {

RowMatch match_row(NameMatcher& matcher, const KernelRow& row) {
  const Regex::Match match = matcher.search(row.name);
  if (match == Regex::Match::limit) return RowMatch::limit;
  if (match != Regex::Match::yes) return RowMatch::none;
  if (row.truncated) return RowMatch::truncated;
  return only_inside(matcher.find_all(row.name), argument_ranges(row.name)) ? RowMatch::arguments
                                                                            : RowMatch::name;
}

std::vector<RowMatch> match_rows(NameMatcher& matcher, const KernelTable* table) {
  std::vector<RowMatch> out;
  if (!table) return out;
  out.reserve(table->kernels.size());
  for (const KernelRow& row : table->kernels) out.push_back(match_row(matcher, row));
  return out;
}

}  // namespace

std::vector<EntryMatches> match_entries(const WindowContract& contract, const KernelTable* student,
                                        const KernelTable* reference) {
  std::vector<EntryMatches> out;
  if (!contract.declared()) return out;
  for (PricedEntry& entry : priced_entries(contract)) {
    NameMatcher matcher(entry.regex);
    std::vector<RowMatch> of_student = match_rows(matcher, student);
    std::vector<RowMatch> of_reference = match_rows(matcher, reference);
    out.push_back({std::move(entry), std::move(of_student), std::move(of_reference)});
  }
  return out;
}

}  // namespace plumbline
