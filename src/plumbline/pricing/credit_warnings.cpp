// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/pricing/credit.h"

namespace plumbline {
namespace {

constexpr std::size_t kNameChars = 80;  // of a kernel's name in a message

/// What one regex finds in one table.
struct Hits {
  std::size_t count = 0;
  double time_ns = 0;
  std::string first;  // the longest-running one: tables are sorted by falling time

  void add(const KernelRow& row) {
    if (count++ == 0) first = printable(cut_middle(row.name, kNameChars));
    time_ns += row.time_ns;
  }
  std::string words(double total_ns) const {
    const std::string share = total_ns > 0 ? format_fixed(100 * time_ns / total_ns, 1) : "0.0";
    return count == 1 ? fmt::format("'{}' ({} % of the time)", first, share)
                      : fmt::format("{} kernels ({} % of the time), the first '{}'", count, share, first);
  }
};

double total_of(const KernelTable& table) {
  double total = 0;
  for (const KernelRow& row : table.kernels) total += row.time_ns;
  return total;
}

}  // namespace

Diagnostics credit_warnings(const WindowContract& contract, const std::vector<EntryMatches>& matches,
                            const KernelTable* student, const KernelTable* reference) {
  Diagnostics out;
  for (const EntryMatches& each : matches) {
    const PricedEntry& entry = each.entry;
    const bool student_pays = entry.payer == Payer::student;
    const KernelTable* own = student_pays ? student : reference;
    const KernelTable* other = student_pays ? reference : student;
    const Location at{contract.file, entry.at.line, entry.at.column};
    Hits inside;
    for (std::size_t i = 0; i < each.own().size(); ++i) {
      if (each.own()[i] == RowMatch::arguments) inside.add(own->kernels[i]);
    }
    if (inside.count > 0) {
      out.push_back(diagnose(
          "regex-in-arguments",
          fmt::format("the regex of {} is found only inside the template arguments or parameters of {}",
                      entry.name, inside.words(total_of(*own))),
          at));
    }
    Hits hits;
    for (std::size_t i = 0; i < each.other().size(); ++i) {
      if (each.other()[i] != RowMatch::none && each.other()[i] != RowMatch::limit)
        hits.add(other->kernels[i]);
    }
    if (hits.count > 0) {
      out.push_back(diagnose(
          "regex-other-side",
          fmt::format("the regex of {} also finds launches of the {}, which is not to do that work: {}",
                      entry.name, student_pays ? "reference" : "student", hits.words(total_of(*other))),
          at));
    }
  }
  return out;
}

}  // namespace plumbline
