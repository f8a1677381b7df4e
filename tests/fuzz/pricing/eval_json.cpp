// SPDX-License-Identifier: Apache-2.0
// Any bytes as an eval JSON: reading and holding it ends with an answer, and a place for every diagnostic.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/evidence/checks.h"
#include "plumbline/pricing/eval.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto eval = parse_eval({reinterpret_cast<const char*>(data), size}, "eval.json");
  if (eval.ok() == has_errors(eval.diagnostics)) std::abort();
  if (!eval.ok()) return 0;
  for (const Diagnostic& d : check_eval(*eval.value, false)) {
    if (d.line < 1 || d.column < 1) std::abort();
  }
  const auto ratio = raw_ratio(*eval.value);
  if (ratio && !(*ratio > 0)) std::abort();
  return 0;
}
