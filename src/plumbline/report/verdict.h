// SPDX-License-Identifier: Apache-2.0
// The verdict document: what `--json` answers on every exit status.
#pragma once

#include <string>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"

namespace plumbline {

/// One reason: {code, severity, message, file, line, column, fix, retryable}. `fix` is the table's; an
/// unknown place is null. `retryable`: measuring again may remove it, nothing need be changed.
Json reason_json(const Diagnostic& diagnostic);

/// An array of them: the first 100 of each code, then one with `left_out` for how many more there are.
Json reasons_json(const Diagnostics& reasons);

/// {ok, verdict, reasons, numbers}: `verdict` is one sentence (one word where nothing could be judged),
/// `numbers` null where nothing was judged.
Json verdict_json(bool ok, const std::string& verdict, const Diagnostics& reasons, Json numbers);

}  // namespace plumbline
