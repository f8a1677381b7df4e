// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/code_counter.h"

namespace plumbline {

bool CodeCounter::shows(const Diagnostic& d) {
  auto at = seen_.find(d.code);
  if (at == seen_.end()) at = seen_.try_emplace(d.code, d.severity, 0U).first;
  return ++at->second.second <= kMostOfACode;
}

std::vector<CodeCounter::Rest> CodeCounter::rest() const {
  std::vector<Rest> out;
  for (const auto& [code, seen] : seen_) {
    const auto& [severity, count] = seen;
    if (count <= kMostOfACode) continue;
    const std::size_t more = count - kMostOfACode;
    out.push_back({{severity, code, "… and " + std::to_string(more) + " more of this kind", {}, 0, 0}, more});
  }
  return out;
}

}  // namespace plumbline
