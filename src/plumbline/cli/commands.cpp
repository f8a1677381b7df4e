// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/commands.h"

namespace plumbline::cli {

void add_all_commands(Args& root) {
  // fair comparison
  add_card(root);
  add_window(root);
  add_start(root);
  add_bench(root);
  add_prep(root);
  add_import(root);
  add_table(root);
  add_confirm(root);
  add_record(root);
  add_run(root);
  add_iterate(root);
  add_ledger(root);
  // shapes
  add_hardware(root);
  add_arch(root);
  // evidence and help
  add_explain(root);
  add_completion(root);
  add_man(root);
}

}  // namespace plumbline::cli
