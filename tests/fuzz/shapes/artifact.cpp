// SPDX-License-Identifier: Apache-2.0
// Any bytes as an artifact: refused with an error, or compared with itself without a difference.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plumbline/report/arch_compare.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto artifact = parse_artifact({reinterpret_cast<const char*>(data), size}, "a.json");
  require(artifact.ok() != has_errors(artifact.diagnostics));
  if (!artifact.ok()) return 0;
  const ArtifactComparison same = compare_artifacts(*artifact.value, *artifact.value);
  require(same.moved.empty() && same.kernels.empty() && same.ranks.empty());
  require(same.added.empty() && same.gone.empty());
  return 0;
}
