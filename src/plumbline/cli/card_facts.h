// SPDX-License-Identifier: Apache-2.0
// What stands on disk around an eval: the card's files as they are now, and the GPU's data sheet.
#pragma once

#include <optional>
#include <string>

#include "plumbline/cli/card.h"
#include "plumbline/evidence/checks.h"

namespace plumbline::cli {

/// The card's name, the hashes of the files that the eval names (inside the card alone, at most 64), the
/// cards beside it, and the workloads that its bench spells out.
CardFacts card_facts(const Card& card, const EvalReport& eval);

/// The data sheet of the shipped hardware file that is of `device` ("NVIDIA H200": h200.toml), or none.
std::optional<GpuFacts> gpu_facts(const std::string& device);

}  // namespace plumbline::cli
