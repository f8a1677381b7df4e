// SPDX-License-Identifier: Apache-2.0
// Holds the `performance.prep` block of an eval JSON to the contract.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/base/json.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// A dtype by meaning: trimmed, lower-cased, one leading "torch." removed, aliases resolved ("half" is
/// "fp16").
std::string normal_dtype(std::string_view dtype);

/// Holds a prep report (any JSON value; null when the eval has none) to the contract's prep entries, in
/// order: prep-unreported alone; else prep-mutated, an entry's prep-missing or prep-shape and prep-dtype,
/// then prep-undeclared. Several workloads are held each, and one problem of several is said once, naming
/// them. Empty when the contract is undeclared or has no prep entries. `file` names the eval in diagnostics.
Findings check_prep_report(const WindowContract& contract, const OrderedJson& report,
                           const std::string& file = {});

}  // namespace plumbline
