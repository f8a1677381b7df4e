// SPDX-License-Identifier: Apache-2.0
// The place of a value in JSON text, for diagnostics about values that parsed and make no sense.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// Where the value at `pointer` (RFC 6901: "/performance/workloads/1/ratio") stands in `text`, which must be
/// valid JSON; of a repeated key the last one. Where the value is absent, its nearest parent that is there.
Location locate_json(std::string_view text, std::string_view pointer, const std::string& file);

/// The text from there on: a number as it is written, and what follows it.
std::string_view text_at_json(std::string_view text, std::string_view pointer);

}  // namespace plumbline
