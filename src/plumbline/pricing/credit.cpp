// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/credit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

bool present(std::optional<double> reading_ms) { return reading_ms && *reading_ms != 0; }

/// The sums behind `matched_ns`: a name's rows first, then the names in the order in which they were found.
class MatchedSum {
 public:
  void add(const KernelRow& row) {
    const auto [it, fresh] = index_.try_emplace(row.name, sums_.size());
    if (fresh) sums_.push_back(0);
    sums_[it->second] += row.time_ns;
  }
  double total() const {
    double total = 0;
    for (const double sum : sums_) total += sum;
    return total;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, at] : index_) names.emplace_back(name);
    std::sort(names.begin(), names.end());  // bytes of UTF-8 sort as code points
    return names;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<double> sums_;
};

struct SideWork {
  SideCredit side;
  std::vector<std::string> over_limit;  // entries whose regex gave up on some name
  std::vector<std::string> truncated;   // names that match and that the profiler cut: never priced
};

/// One entry's rows; rows found before count for it and are not summed again.
bool take_entry(const EntryMatches& each, const std::vector<KernelRow>& rows, std::vector<char>& taken,
                MatchedSum& sum, SideWork& work) {
  bool found = false;
  bool limit = false;
  for (std::size_t i = 0; i < each.own().size(); ++i) {
    const RowMatch match = each.own()[i];
    limit = limit || match == RowMatch::limit;
    if (match == RowMatch::truncated) work.truncated.push_back(rows[i].name);
    if (!pays(match)) continue;
    found = true;
    if (taken[i] == 0) {
      taken[i] = 1;
      sum.add(rows[i]);
    }
  }
  if (limit) work.over_limit.push_back(each.entry.name);
  return found;
}

SideWork price_side(const std::vector<EntryMatches>& matches, Payer payer, const SideInput& input) {
  SideWork work;
  SideCredit& side = work.side;
  static const std::vector<KernelRow> kNoRows;
  const std::vector<KernelRow>& rows = input.table ? input.table->kernels : kNoRows;
  side.table = !rows.empty();
  std::vector<char> taken(rows.size(), 0);
  MatchedSum sum;
  for (const EntryMatches& each : matches) {
    if (each.entry.payer != payer) continue;
    side.priced.push_back(each.entry.name);
    if (!take_entry(each, rows, taken, sum, work)) side.unmatched.push_back(each.entry.name);
  }
  if (side.priced.empty()) return work;
  for (const KernelRow& row : rows) side.total_ns += row.time_ns;
  side.matched_ns = sum.total();
  side.matched = sum.names();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] != 0) side.matched_rows.push_back(i);
  }
  if (side.total_ns > 0) side.fraction = side.matched_ns / side.total_ns;
  if (input.ns_per_call && present(input.reading_ms)) {
    side.coverage = *input.ns_per_call / 1e6 / *input.reading_ms;
  }
  return work;
}

void explain_match(const SideWork& work, Payer payer, std::vector<CreditReason>& why) {
  const SideCredit& side = work.side;
  if (side.priced.empty()) return;
  const std::string_view who = to_string(payer);
  if (!side.table) {
    why.push_back(
        {"no-table", payer, {}, fmt::format("the {} has priced work and no kernel table with rows", who)});
  } else if (!side.unmatched.empty()) {
    why.push_back({"regex-unmatched", payer, side.unmatched,
                   fmt::format("no launch of the {} matches the regex of {}: fused, renamed, or not launched",
                               who, printable_list(side.unmatched))});
  }
}

void explain_coverage(const SideCredit& side, Payer payer, std::vector<CreditReason>& why) {
  if (!side.coverage || std::abs(*side.coverage - 1) <= kCoverageBand) return;
  why.push_back({"unreconciled",
                 payer,
                 {},
                 fmt::format("the {}'s table holds {} of its window; 0.8 to 1.2 would be the same work",
                             to_string(payer), format_fixed(*side.coverage, 3))});
}

/// Beyond the original's reasons: a table that cannot bear a credit whatever its regexes find.
void explain_table(const SideWork& work, Payer payer, const SideInput& input,
                   std::vector<CreditReason>& why) {
  if (work.side.priced.empty() || !work.side.table) return;
  const std::string_view who = to_string(payer);
  const KernelTable& table = *input.table;
  if (!work.over_limit.empty()) {
    why.push_back({"regex-limit", payer, work.over_limit,
                   fmt::format("the regex of {} backtracks past the match limit on a kernel name of the {}",
                               printable_list(work.over_limit), who)});
  }
  if (!work.truncated.empty()) {
    why.push_back(
        {"name-truncated", payer, work.truncated,
         fmt::format("{} matching kernels of the {} have a name that the profiler cut: what they are is "
                     "not known",
                     work.truncated.size(), who)});
  }
  if (table.lossy) {
    why.push_back({"table-lossy", payer, {}, fmt::format("the profiler lost records of the {}", who)});
  }
  std::vector<std::string> bad;
  std::vector<std::string> uneven;
  for (const KernelRow& row : table.kernels) {
    if (!std::isfinite(row.time_ns)) bad.push_back(row.name);
    if (table.calls && *table.calls > 0 && row.launches % *table.calls != 0) uneven.push_back(row.name);
  }
  if (!bad.empty()) {
    why.push_back({"table-times", payer, bad,
                   fmt::format("{} kernels of the {} have no finite time", bad.size(), who)});
  }
  if (!uneven.empty()) {
    why.push_back(
        {"launches-uneven", payer, uneven,
         fmt::format("{} kernels of the {} have launches that its {} calls do not divide: the region holds "
                     "work that is not the call's (autotuning, a first call)",
                     uneven.size(), who, *table.calls)});
  }
}

}  // namespace

SideInput side_input(const KernelTable* table, std::optional<double> reading_ms) {
  return {table, table ? table->time_ns_per_call : std::nullopt, reading_ms};
}

std::optional<Credit> price_credit(const WindowContract& contract, const SideInput& student,
                                   const SideInput& reference) {
  return price_credit(contract, match_entries(contract, student.table, reference.table), student, reference);
}

std::optional<Credit> price_credit(const WindowContract& contract, const std::vector<EntryMatches>& matches,
                                   const SideInput& student, const SideInput& reference) {
  if (matches.empty()) return {};
  SideWork of_student = price_side(matches, Payer::student, student);
  SideWork of_reference = price_side(matches, Payer::reference, reference);
  Credit credit;
  for (PricedEntry& entry : unpriced_entries(contract)) credit.unpriced.push_back(std::move(entry.name));
  explain_match(of_student, Payer::student, credit.why);
  explain_match(of_reference, Payer::reference, credit.why);
  explain_coverage(of_student.side, Payer::student, credit.why);
  explain_coverage(of_reference.side, Payer::reference, credit.why);
  explain_table(of_student, Payer::student, student, credit.why);
  explain_table(of_reference, Payer::reference, reference, credit.why);
  credit.student = std::move(of_student.side);
  credit.reference = std::move(of_reference.side);
  return credit;
}

std::vector<std::string> entries_by_row(const std::vector<EntryMatches>& matches, Payer side,
                                        std::size_t rows) {
  std::vector<std::string> marks(rows);
  for (const EntryMatches& each : matches) {
    if (each.entry.payer != side) continue;
    for (std::size_t i = 0; i < std::min(rows, each.own().size()); ++i) {
      if (pays(each.own()[i])) marks[i].append(marks[i].empty() ? "" : ", ").append(each.entry.name);
    }
  }
  return marks;
}

std::optional<CreditedTimes> credited_times(const Credit& credit, std::optional<double> student_ms,
                                            std::optional<double> ref_ms) {
  if (!credit.usable() || !present(student_ms) || !present(ref_ms)) return {};
  CreditedTimes times;
  times.student_ms = *student_ms;
  times.ref_ms = *ref_ms;
  times.raw_ratio = *ref_ms / *student_ms;
  times.student_fraction = credit.student.fraction;
  times.reference_fraction = credit.reference.fraction;
  times.credited_student_ms = *student_ms * (1 - credit.student.fraction);
  times.credited_ref_ms = *ref_ms * (1 - credit.reference.fraction);
  times.credited_ratio = times.credited_ref_ms / times.credited_student_ms;
  const bool usable = times.credited_student_ms > 0 && times.credited_ref_ms > 0 &&
                      std::isfinite(times.credited_ratio) && std::isfinite(times.raw_ratio);
  return usable ? std::optional(times) : std::nullopt;
}

namespace {

Json to_json(const SideCredit& side) {
  return {{"fraction", side.fraction},  {"matched", side.matched}, {"matched_ns", side.matched_ns},
          {"priced", side.priced},      {"table", side.table},     {"total_ns", side.total_ns},
          {"unmatched", side.unmatched}};
}

}  // namespace

Json to_json(const Credit& credit) {
  Json json = {{"student", to_json(credit.student)},
               {"reference", to_json(credit.reference)},
               {"unpriced", credit.unpriced},
               {"usable", credit.usable()},
               {"why", Json::array()}};
  for (const CreditReason& reason : credit.why) {
    json["why"].push_back({{"code", reason.code}, {"side", to_string(reason.side)}, {"names", reason.names}});
  }
  Json reconciliation = Json::object();
  if (credit.student.coverage) reconciliation["student"] = round_places(*credit.student.coverage, 3);
  if (credit.reference.coverage) reconciliation["reference"] = round_places(*credit.reference.coverage, 3);
  if (!reconciliation.empty()) json["reconciliation"] = reconciliation;
  return json;
}

Json to_json(const CreditedTimes& times) {
  return {{"student_ms", times.student_ms},
          {"ref_ms", times.ref_ms},
          {"raw_ratio", times.raw_ratio},
          {"student_fraction", times.student_fraction},
          {"reference_fraction", times.reference_fraction},
          {"credited_student_ms", times.credited_student_ms},
          {"credited_ref_ms", times.credited_ref_ms},
          {"credited_ratio", times.credited_ratio}};
}

}  // namespace plumbline
