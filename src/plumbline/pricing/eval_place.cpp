// SPDX-License-Identifier: Apache-2.0
// Where a value of an eval stands, and with how many digits it is written.
#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/json_locate.h"
#include "plumbline/base/numbers.h"
#include "plumbline/pricing/eval.h"

namespace plumbline {

Location place_in(const EvalReport& report, std::string_view pointer) {
  if (!report.text) return {report.file, 0, 0};
  return locate_json(*report.text, pointer, report.file);
}

std::string pointer_of(const EvalReport& report, const WorkloadReading& workload, std::string_view below) {
  return fmt::format("/performance/workloads/{}{}", &workload - report.workloads.data(), below);
}

Location place_in(const EvalReport& report, const WorkloadReading& workload, std::string_view pointer) {
  return place_in(report, pointer_of(report, workload, pointer));
}

double written_half(const EvalReport& report, const std::string& pointer) {
  if (!report.text) return 0;
  const std::string_view rest = text_at_json(*report.text, pointer);
  const std::string_view number = rest.substr(0, rest.find_first_not_of("+-0123456789.eE"));
  const std::size_t exponent = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, exponent);
  const std::size_t point = digits.find('.');
  const auto decimals =
      point == std::string_view::npos ? 0.0 : static_cast<double>(digits.size() - point - 1);
  std::string_view power = exponent == std::string_view::npos ? "0" : number.substr(exponent + 1);
  if (power.starts_with("+")) power.remove_prefix(1);
  const auto scale = parse_int(power);
  if (digits.empty() || !scale) return 0;
  return 0.5 * std::pow(10.0, static_cast<double>(*scale) - decimals);
}

}  // namespace plumbline
