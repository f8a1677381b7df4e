// SPDX-License-Identifier: Apache-2.0
// The subcommands of `plumbline arch`, one function and one file each.
#pragma once

#include "plumbline/cli/command.h"

namespace plumbline::cli {

void add_arch_predict(Args& arch);
void add_arch_rank(Args& arch);
void add_arch_sweep(Args& arch);
void add_arch_report(Args& arch);
void add_arch_compare(Args& arch);
void add_arch_cliffs(Args& arch);
void add_arch_search(Args& arch);
void add_arch_serve(Args& arch);

}  // namespace plumbline::cli
