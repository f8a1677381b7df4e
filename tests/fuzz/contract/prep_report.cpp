// SPDX-License-Identifier: Apache-2.0
// Any bytes as a prep report: holding it to a contract ends with an answer.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plumbline/contract/parse.h"
#include "plumbline/contract/prep_report.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Parsed<WindowContract> kContract = parse_contract(
      "[reference]\ninputs = ['q', 'a', 'b']\noutputs = ['o']\n[student]\ninputs = ['q', 'a', 'b']\noutputs "
      "= ['o']\n"
      "[[asymmetry]]\nref_input = 'a'\nclass = 'symmetrize'\nshape = [4, 8]\ndtype = 'bf16'\n"
      "[[asymmetry]]\nref_input = 'b'\nclass = 'symmetrize'\nshape = [1]\ndtype = 'i32'\n"
      "workload_shapes = { w = [2] }\n",
      "window.toml");
  const auto report = parse_json_ordered({reinterpret_cast<const char*>(data), size}, "eval.json");
  if (report.ok()) (void)check_prep_report(*kContract.value, *report.value, "eval.json");
  return 0;
}
