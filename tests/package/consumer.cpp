// SPDX-License-Identifier: Apache-2.0
// A user of the library: from a contract and two tables to a credit, and from layers to a ranking.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/kernel_memory.h"
#include "plumbline/model/predict.h"
#include "plumbline/pricing/credit.h"
#include "plumbline/profile/import.h"
#include "plumbline/search/builtin.h"
#include "plumbline/search/rank.h"

namespace {

/// False, with the diagnostics on standard error, where `parsed` has no value.
template <class T>
bool usable(const plumbline::Parsed<T>& parsed) {
  for (const auto& each : parsed.diagnostics) {
    std::fprintf(stderr, "%s\n", plumbline::format_diagnostic(each).c_str());
  }
  return parsed.ok();
}

bool window_to_credit(const std::string& contract_file, const std::string& student_file,
                      const std::string& reference_file) {
  const auto contract = plumbline::load_contract(contract_file);
  const auto student = plumbline::import_profile(student_file);
  const auto reference = plumbline::import_profile(reference_file);
  if (!usable(contract) || !usable(student) || !usable(reference)) return false;
  if (!plumbline::check_contract(*contract.value).findings.empty()) return false;
  const auto credit = plumbline::price_credit(*contract.value, plumbline::side_input(&*student.value, {}),
                                              plumbline::side_input(&*reference.value, {}));
  if (!credit) return false;
  std::printf("student: %.1f %% of its kernel time is priced\n", 100 * credit->student.fraction);
  return credit->student.fraction > 0 && credit->student.fraction < 1;
}

bool layers_to_rank(const std::string& hardware_folder) {
  const std::vector<std::string> folders{hardware_folder};
  const auto hardware = plumbline::load_hardware("h200", folders);
  if (!usable(hardware)) return false;
  const auto predictor = plumbline::choose_predictor(*hardware.value);
  if (!usable(predictor)) return false;
  const auto layers = plumbline::builtin_layers();
  const auto scores = plumbline::score_all(*predictor.value, layers);
  const auto order = plumbline::rank(scores, plumbline::Metric::total_ms);
  std::printf("fastest of %zu layers: %s, %.3f ms\n", order.size(), layers[order[0]].name.c_str(),
              scores[order[0]].total_ms);
  return order.size() == layers.size() && scores[order.front()].total_ms <= scores[order.back()].total_ms &&
         std::isfinite(scores[order.back()].total_ms);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return window_to_credit(argv[1], argv[2], argv[3]) && layers_to_rank(argv[4]) ? 0 : 1;
}
