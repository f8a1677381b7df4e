// SPDX-License-Identifier: Apache-2.0
// What a report on layers says in words.
#pragma once

#include <string>
#include <vector>

#include "plumbline/search/arch_report.h"

namespace plumbline {

/// Sentences computed from one GPU's results: what binds, what is fastest, which sizes cost more than their
/// neighbours, which dimensions waste tile work.
std::vector<std::string> takeaways(const ArchReport& report, const GpuReport& gpu);

/// Sentences about several GPUs: which rankings agree, and what changes places.
std::vector<std::string> agreement_takeaways(const ArchReport& report);

}  // namespace plumbline
