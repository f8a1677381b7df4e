// SPDX-License-Identifier: Apache-2.0
// Credit cases: a contract, both kernel tables, the profilers' digests and the readings to a credit.
#include "plumbline/pricing/credit.h"

#include "kind.h"
#include "plumbline/contract/parse.h"

namespace plumbline::conformance {
namespace {

/// Rows as given: not sorted and not summed, since pricing must do with any order.
std::optional<KernelTable> table_of(const Json& rows) {
  if (!rows.is_array()) return {};
  KernelTable table;
  for (const Json& row : rows) {
    KernelRow& kernel = table.kernels.emplace_back();
    kernel.name = row.at("name").get<std::string>();
    kernel.launches = row.at("launches").get<std::int64_t>();
    kernel.time_ns = row.at("time_ns").get<double>();
  }
  return table;
}

std::optional<double> number_of(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

SideInput side_of(const std::optional<KernelTable>& table, const Json& profiler, const Json& reading) {
  SideInput side;
  side.table = table ? &*table : nullptr;
  if (profiler.is_object() && profiler.contains("time_ns_per_call")) {
    side.ns_per_call = number_of(profiler["time_ns_per_call"]);
  }
  side.reading_ms = number_of(reading);
  return side;
}

std::string check(const Json& test) {
  std::optional<Credit> credit;
  const auto student_table = table_of(test.at("student_kernels"));
  const auto ref_table = table_of(test.at("ref_kernels"));
  const SideInput student = side_of(student_table, test.at("student_profiler"), test.at("student_ms"));
  const SideInput reference = side_of(ref_table, test.at("ref_profiler"), test.at("ref_ms"));
  if (test.at("toml").is_string()) {
    const auto contract = parse_contract(test["toml"].get<std::string>(), "window.toml");
    if (contract.ok()) credit = price_credit(*contract.value, student, reference);
  }
  std::optional<CreditedTimes> credited;
  if (credit) credited = credited_times(*credit, student.reading_ms, reference.reading_ms);
  const std::string difference =
      compare_values(test.at("credit"), credit ? to_json(*credit) : Json(), "credit");
  if (!difference.empty()) return difference;
  return compare_values(test.at("credited"), credited ? to_json(*credited) : Json(), "credited");
}

const Kind kKind{"credit", check};

}  // namespace
}  // namespace plumbline::conformance
