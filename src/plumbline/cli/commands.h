// SPDX-License-Identifier: Apache-2.0
// Every subcommand, one function and one file each.
#pragma once

#include "plumbline/cli/command.h"

namespace plumbline::cli {

// fair comparison
void add_card(Args& root);
void add_window(Args& root);
void add_start(Args& root);
void add_bench(Args& root);
void add_prep(Args& root);
void add_import(Args& root);
void add_table(Args& root);
void add_confirm(Args& root);
void add_record(Args& root);
void add_run(Args& root);
void add_iterate(Args& root);
void add_ledger(Args& root);

// shapes
void add_hardware(Args& root);
void add_arch(Args& root);

// evidence and help
void add_explain(Args& root);
void add_completion(Args& root);
void add_man(Args& root);

/// Adds every subcommand, in the order in which --help lists them.
void add_all_commands(Args& root);

}  // namespace plumbline::cli
