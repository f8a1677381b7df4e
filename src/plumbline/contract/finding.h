// SPDX-License-Identifier: Apache-2.0
// Finding: a diagnostic with which entry, name, list or workloads it speaks of.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"

namespace plumbline {

/// A diagnostic of the contract, of the prep report or of the bench, with what it speaks of as data. The
/// empty fields do not apply.
struct Finding {
  Diagnostic diagnostic;                 ///< what is wrong, and its place
  std::string kind{};                    ///< "ref_input", "student_input", "ref_output" or "student_output"
  std::string name{};                    ///< the tensor
  std::string list{};                    ///< "[reference].inputs" and so on
  std::vector<std::string> workloads{};  ///< tags of the workloads that showed the problem
};

using Findings = std::vector<Finding>;

/// The diagnostics of findings, in their order.
Diagnostics to_diagnostics(const Findings& findings);

/// True when any of them has severity finding or error: the run is refused.
bool refuses(const Findings& findings);

/// `{"code","severity","message","kind","name","list","workloads","file","line","column"}`; what does not
/// apply is left out.
Json to_json(const Finding& finding);

/// An array of the above, in order: the first 100 of each code, then one with `left_out` for how many more.
Json to_json(const Findings& findings);

}  // namespace plumbline
