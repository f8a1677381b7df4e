// SPDX-License-Identifier: Apache-2.0
// A GPU's description as text and JSON.
#pragma once

#include <span>
#include <string>

#include "plumbline/base/json.h"
#include "plumbline/model/hardware.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// name, sheet {…, units in the keys}, proxy {…} or null, models: what can predict with it, sources: the
/// measured kernels' files with their hashes, and errors by operation.
Json hardware_json(const Hardware& hardware);

/// One line a GPU.
std::string hardware_list_text(std::span<const Hardware> all, const Look& look);

/// Everything known of one GPU, and where each part comes from.
std::string hardware_text(const Hardware& hardware, const Look& look);

}  // namespace plumbline
