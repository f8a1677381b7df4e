// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/ncu_header.h"

#include <algorithm>

namespace plumbline::profile {
namespace {

/// The columns whose names are whole and the same on every version.
struct Named {
  std::string_view name;
  std::size_t NcuHeader::*column;
};
constexpr auto kNamed = std::to_array<Named>({
    {"ID", &NcuHeader::id},
    {"Process ID", &NcuHeader::process},
    {"Kernel Name", &NcuHeader::name},
    {"Device", &NcuHeader::device},
    {"CC", &NcuHeader::cc},
    {"Stream", &NcuHeader::stream},
    {"Metric Name", &NcuHeader::metric},
    {"Metric Unit", &NcuHeader::unit},
    {"Metric Value", &NcuHeader::value},
    {"Rule Name", &NcuHeader::rule},
    {"Invocations", &NcuHeader::invocations},
    {"Minimum", &NcuHeader::low},
    {"Maximum", &NcuHeader::high},
    {"Average", &NcuHeader::average},
    {"device__attribute_display_name", &NcuHeader::display_name},
});

/// The best metrics so far, while the columns are walked.
struct Ranks {
  int time = 0;
  int tensor = 0;
};

void place(NcuHeader& header, Ranks& best, std::string_view field, std::size_t column) {
  const auto named =
      std::find_if(kNamed.begin(), kNamed.end(), [&](const Named& known) { return known.name == field; });
  if (named != kNamed.end()) {
    header.*(named->column) = column;
  } else if (field.find("Push/Pop_Range") != std::string_view::npos) {
    header.push_pop = column;
  } else if (field.find("Start/Stop_Range") != std::string_view::npos) {
    header.start_stop = column;
  } else if (const int time = metric_rank(kTimeMetrics, field); time > best.time) {
    header.time = column;
    best.time = time;
  } else if (const int tensor = metric_rank(kTensorMetrics, field); tensor > best.tensor) {
    header.tensor = column;
    best.tensor = tensor;
  }
}

NcuPage page_of(const NcuHeader& header) {
  if (header.metric == kNoColumn) return NcuPage::raw;
  return header.invocations != kNoColumn ? NcuPage::summary : NcuPage::details;
}

bool is_complete(const NcuHeader& header) {
  switch (header.page) {
    case NcuPage::raw:
      return header.id != kNoColumn;
    case NcuPage::details:
      return header.id != kNoColumn && header.unit != kNoColumn && header.value != kNoColumn;
    case NcuPage::summary:
      return header.unit != kNoColumn && header.average != kNoColumn;
  }
  return false;
}

}  // namespace

bool is_ncu_header_line(std::string_view line) {
  const bool first = line.starts_with("\"ID\",") || line.starts_with("ID,") ||
                     line.starts_with("\"Process ID\",") || line.starts_with("Process ID,");
  return first && line.find("Kernel Name") != std::string_view::npos;
}

Parsed<NcuHeader> read_ncu_header(std::span<const std::string_view> fields, bool quoted, const Location& at) {
  NcuHeader header;
  header.quoted = quoted;
  header.count = fields.size();
  Ranks best;
  for (std::size_t i = 0; i < fields.size(); ++i) place(header, best, fields[i], i);
  header.page = page_of(header);
  if (!is_complete(header)) {
    return failed<NcuHeader>(diagnose(
        "csv-header", "the header lacks columns of this page (ID, Metric Unit, Metric Value, Average)", at));
  }
  if (header.page == NcuPage::raw) {
    if (header.time == kNoColumn) {
      return failed<NcuHeader>(
          diagnose("ncu-no-duration", "no gpu__time_duration column in the raw page", at));
    }
    std::size_t last_base = header.name;
    for (const std::size_t base : {header.id, header.process, header.device, header.cc, header.stream}) {
      if (base != kNoColumn) last_base = std::max(last_base, base);
    }
    header.first_metric = last_base + 1;
  }
  return {header, {}};
}

}  // namespace plumbline::profile
