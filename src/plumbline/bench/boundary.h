// SPDX-License-Identifier: Apache-2.0
// The contract's inputs, the dictionary that the bench makes and the parameters of both sides.
#pragma once

#include "plumbline/bench/modules.h"
#include "plumbline/bench/syntax.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// input-undeclared, parameter-not-made; input-not-made, input-not-received (warnings). Nothing where the
/// contract is undeclared, the bench measures several comparisons, or the source does not tell.
Findings check_boundary(const SyntaxTree& bench, const WindowContract& contract, ModuleSet& modules);

}  // namespace plumbline
