// SPDX-License-Identifier: Apache-2.0
// `plumbline arch …`: the commands about layers and their latency.
#include "plumbline/cli/arch.h"

#include "plumbline/cli/commands.h"

namespace plumbline::cli {

void add_arch(Args& root) {
  Args arch = root.subcommand("arch", "predict, rank, sweep and compare decoder layers");
  add_arch_predict(arch);
  add_arch_rank(arch);
  add_arch_sweep(arch);
  add_arch_cliffs(arch);
  add_arch_search(arch);
  add_arch_serve(arch);
  add_arch_report(arch);
  add_arch_compare(arch);
}

}  // namespace plumbline::cli
