// SPDX-License-Identifier: Apache-2.0
// Kernel tables: against their windows, against each other, against what is priced off them.
#include <algorithm>
#include <cmath>
#include <set>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

constexpr double kOverlapDoubted = 0.01;  // of the kernel time; time stamps of neighbours overlap a little
constexpr double kMostOfAWindow = 0.5;    // what is priced is a difference of the boundary, not the job

std::string percent(double share) { return format_fixed(100 * share, 1) + " %"; }

const std::string& shown_name(const KernelRow& row) { return row.identity.empty() ? row.name : row.identity; }

/// A profiler that knows the compute capability alone says "CC 9.0": that names no device.
bool names_a_device(const std::string& device) { return !device.empty() && !device.starts_with("CC "); }

void check_devices(const Documents& in, Diagnostics& out) {
  std::string first = names_a_device(in.eval->device) ? in.eval->device : "";
  for (const KernelTable* table : {in.student, in.reference}) {
    if (!table || !names_a_device(table->device)) continue;
    if (first.empty()) first = table->device;
    if (table->device == first) continue;
    out.push_back(diagnose("device-differs", fmt::format("readings and kernel tables come from '{}' and '{}'",
                                                         first, table->device)));
    return;
  }
}

/// The importer's format says which tool: raw and details pages of one are one tool.
std::string tool_of(const KernelTable& table) { return table.source.substr(0, table.source.find('-')); }

void check_pair(const Documents& in, Diagnostics& out) {
  if (!in.student || !in.reference || in.student->kernels.empty() || in.reference->kernels.empty()) return;
  const std::string student = tool_of(*in.student);
  const std::string reference = tool_of(*in.reference);
  const auto same_rows = [](const KernelTable& a, const KernelTable& b) {
    return std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(),
                      [](const KernelRow& x, const KernelRow& y) {
                        return x.name == y.name && x.launches == y.launches && x.time_ns == y.time_ns;
                      });
  };
  const bool one_file = !in.student->file_sha256.empty() &&
                        in.student->file_sha256 == in.reference->file_sha256 &&
                        in.student->region == in.reference->region;
  if (one_file || same_rows(*in.student, *in.reference)) {
    out.push_back(diagnose("tables-identical",
                           one_file ? "both sides' tables come from one file and one region"
                                    : "both sides' tables hold the same kernels to the nanosecond"));
  }
  if (student != reference && student != "table" && reference != "table") {
    out.push_back(diagnose("tables-tools-differ",
                           fmt::format("the student's kernels come from {} and the reference's from {}: two "
                                       "tools time launches differently",
                                       in.student->source, in.reference->source)));
  }
  if (in.student->calls && in.reference->calls && *in.student->calls != *in.reference->calls) {
    out.push_back(diagnose("tables-calls-differ",
                           fmt::format("the student's table covers {} calls and the reference's {}: they are "
                                       "not of one procedure",
                                       *in.student->calls, *in.reference->calls)));
  }
}

/// What was not weighed although the credit rests on it, and launches that ran side by side.
void check_priced_side(const Documents& in, Payer payer, Diagnostics& out) {
  const KernelTable* table = in.table(payer);
  if (!in.credit || in.credit->of(payer).priced.empty() || !table || table->kernels.empty()) return;
  const SideCredit& side = in.credit->of(payer);
  const std::string_view who = to_string(payer);
  if (!table->time_ns_per_call) {
    out.push_back(
        diagnose("calls-unknown",
                 fmt::format("the {}'s table does not say how many calls it covers: it was not held against "
                             "the window, and what its gaps do is not known",
                             who)));
  }
  if (!side.matched.empty() && table->overlap_ns && *table->overlap_ns / table->total_ns > kOverlapDoubted) {
    out.push_back(
        diagnose("kernels-overlap",
                 fmt::format("{} of the {}'s kernel time ran beside other kernels: taking a kernel out "
                             "need not shorten the window by its time",
                             percent(*table->overlap_ns / table->total_ns), who)));
  }
  const KernelRow* without_time = nullptr;
  bool largest = false;
  double most = 0;
  for (const KernelRow& row : table->kernels) most = std::max(most, row.time_ns);
  for (const std::size_t at : side.matched_rows) {
    const KernelRow& row = table->kernels[at];
    if (row.time_ns <= 0 && !without_time) without_time = &row;
    largest = largest || (row.time_ns == most && most > 0 && table->kernels.size() > 1);
  }
  if (without_time) {
    out.push_back(
        diagnose("priced-no-time",
                 fmt::format("the {} is priced by {}, which took 0 ns in {} launches: nothing was timed", who,
                             printable(cut_middle(shown_name(*without_time), 80)), without_time->launches)));
  }
  if (side.fraction > kMostOfAWindow || largest) {
    out.push_back(diagnose(
        "regex-takes-most",
        fmt::format(
            "what is priced takes {} of the {}'s kernel time{}: is that a difference of the boundary, "
            "or the work itself?",
            percent(side.fraction), who, largest ? ", its largest kernel among it" : "")));
  }
}

/// A table of a side that nothing is priced off is held to its window all the same.
void check_unpriced_side(const Documents& in, Payer payer, Diagnostics& out) {
  const KernelTable* table = in.table(payer);
  if (!table || table->kernels.empty()) return;
  if (in.credit && !in.credit->of(payer).priced.empty()) return;  // the credit's own reasons say it
  const std::string_view who = to_string(payer);
  if (table->lossy)
    out.push_back(diagnose("table-lossy", fmt::format("the profiler lost records of the {}", who)));
  std::vector<std::string> uneven;
  std::int64_t launches = 0;
  for (const KernelRow& row : table->kernels) {
    launches += row.launches;
    if (table->calls && *table->calls > 0 && row.launches % *table->calls != 0)
      uneven.push_back(shown_name(row));
  }
  if (!uneven.empty()) {
    out.push_back(diagnose(
        "launches-uneven",
        fmt::format("{} kernels of the {} have launches that its {} calls do not divide, the first {}",
                    uneven.size(), who, *table->calls, printable(cut_middle(uneven.front(), 80)))));
  }
  if (!table->time_ns_per_call) {
    out.push_back(
        diagnose("calls-unknown", fmt::format("the {}'s table does not say how many calls it covers: "
                                              "it was not held against the window",
                                              who)));
  }
  const auto reading = in.reading_ms(payer);
  if (!table->time_ns_per_call || !reading || !(*reading > 0)) return;
  const double coverage = *table->time_ns_per_call / 1e6 / *reading;
  if (std::abs(coverage - 1) <= kCoverageBand) return;
  if (coverage < 1) {
    // Short kernels leave gaps between launches, and a per-call window holds the host's part.
    const double floor_ms = in.eval->harness.launch_floor_us.value_or(0) / 1e3;
    const double calls = static_cast<double>(std::max<std::int64_t>(table->calls.value_or(1), 1));
    const double gaps = floor_ms * static_cast<double>(launches) / calls;
    const WorkloadReading* of = in.workload ? in.workload : in.eval->campaign_workload();
    const SideReading* side = of ? (payer == Payer::student ? &of->student : &of->ref) : nullptr;
    const double host = in.eval->timed == WindowKind::per_call && side ? side->host_tax_ms.value_or(0) : 0;
    if ((*table->time_ns_per_call / 1e6 + gaps + std::max(0.0, host)) / *reading >= 1 - kCoverageBand) return;
    if (in.eval->timed == WindowKind::per_call && (!side || !side->host_tax_ms))
      return;  // the host's part is unknown
  }
  out.push_back(diagnose(
      "unreconciled", fmt::format("the {}'s table holds {} of its window; 0.8 to 1.2 would be the same work",
                                  who, format_fixed(coverage, 3))));
}

}  // namespace

OneSided one_sided_kernels(const KernelTable* student, const KernelTable* reference) {
  OneSided out;
  if (!student || !reference || student->kernels.empty() || reference->kernels.empty()) return out;
  const auto names = [](const KernelTable& table) {
    std::set<std::string_view> all;
    for (const KernelRow& row : table.kernels) all.insert(shown_name(row));
    return all;
  };
  const auto only = [](const KernelTable& table, const std::set<std::string_view>& others) {
    std::vector<std::string> alone;
    std::set<std::string_view> seen;
    for (const KernelRow& row : table.kernels) {
      const std::string& name = shown_name(row);
      if (!others.contains(name) && seen.insert(name).second) alone.push_back(name);
    }
    return alone;
  };
  out.student = only(*student, names(*reference));
  out.reference = only(*reference, names(*student));
  return out;
}

void check_tables(const Documents& in, Diagnostics& out) {
  for (const Payer payer : {Payer::student, Payer::reference}) {
    check_priced_side(in, payer, out);
    check_unpriced_side(in, payer, out);
  }
  check_devices(in, out);
  check_pair(in, out);
}

}  // namespace plumbline
