// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/nsys_table.h"

#include <array>

namespace plumbline::profile {
namespace {

struct KnownTitle {
  std::string_view title;
  std::size_t TableColumns::*column;
};

constexpr auto kTitles = std::to_array<KnownTitle>({
    {"Time", &TableColumns::share},        {"Total Time", &TableColumns::total},
    {"Instances", &TableColumns::calls},   {"Avg", &TableColumns::average},
    {"Average", &TableColumns::average},   {"Min", &TableColumns::low},
    {"Minimum", &TableColumns::low},       {"Max", &TableColumns::high},
    {"Maximum", &TableColumns::high},      {"GridXYZ", &TableColumns::grid},
    {"Name", &TableColumns::name},         {"Operation", &TableColumns::name},
    {"Kernel Name", &TableColumns::name},  {"Category", &TableColumns::kind},
    {"Start", &TableColumns::start},       {"Kernel Start", &TableColumns::start},
    {"Duration", &TableColumns::duration}, {"Kernel Dur", &TableColumns::duration},
    {"Device", &TableColumns::device},     {"DevId", &TableColumns::device},
    {"Strm", &TableColumns::stream},       {"PID", &TableColumns::process},
});

}  // namespace

NsysTable nsys_table(std::span<const std::string_view> titles) {
  NsysTable table;
  TableColumns& columns = table.columns;
  columns.fields = titles.size();
  bool of_gpu = false;    // columns that only kernels and copies have
  bool of_calls = false;  // columns that only calls have
  std::string_view time;
  std::string_view clock;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const auto [title, unit] = titled_column(titles[i]);
    of_gpu = of_gpu || title == "GrdX" || title == "Strm" || title == "CorrId" || title == "Kernel Name";
    of_calls = of_calls || title == "Result" || title == "Range" || title == "NVTX Range" || title == "Tid";
    for (const KnownTitle& known : kTitles) {
      if (known.title != title || columns.*(known.column) != TableColumns::kAbsent) continue;
      if (title == "Time" && unit != "%") continue;
      columns.*(known.column) = i;
      if (known.column == &TableColumns::total || known.column == &TableColumns::duration) time = unit;
      if (known.column == &TableColumns::start) clock = unit;
    }
  }
  columns.kernels = "CUDA_KERNEL";
  if (columns.summary() && !of_calls) {
    table.report = NsysReport::kernels;
    columns.process = TableColumns::kAbsent;
  } else if (columns.launches() && of_gpu && !of_calls) {
    table.report = NsysReport::trace;
    columns.share = TableColumns::kAbsent;
    columns.calls = TableColumns::kAbsent;
    columns.total = TableColumns::kAbsent;
  }
  table.unnamed_unit = table.report != NsysReport::other && time.empty() &&
                       columns.share != TableColumns::kAbsent &&
                       titles[columns.share].find(" (") == std::string_view::npos;
  columns.time_unit = read_unit(table.unnamed_unit ? "ns" : time);
  columns.clock_unit = read_unit(clock);
  return table;
}

}  // namespace plumbline::profile
