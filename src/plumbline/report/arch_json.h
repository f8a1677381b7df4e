// SPDX-License-Identifier: Apache-2.0
// The artifacts that a CI compares: the project's own, and the original script's.
#pragma once

#include <string_view>

#include "plumbline/base/json.h"
#include "plumbline/search/arch_report.h"

namespace plumbline {

inline constexpr std::string_view kArchSchema = "plumbline-arch-report";  ///< the artifact's "schema"
inline constexpr int kArchSchemaVersion = 1;                              ///< a reader refuses a newer one

/// The artifact (docs/schema/arch-report.schema.json). No clock, host or path: the same input gives the same
/// bytes from write_json.
Json arch_report_json(const ArchReport& report);

/// The artifact of the original script (schema_version 1) for one GPU of the report, predicted by the proxy.
Json noeris_report_json(const ArchReport& report, const GpuReport& gpu);

/// A sweep: dimension, base layer, values.
Json sweep_json(const Sweep& sweep);

}  // namespace plumbline
