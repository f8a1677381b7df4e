// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/scaffold.h"

#include "plumbline/base/text.h"

namespace plumbline {

std::string contract_scaffold(std::string_view name) {
  const std::string title = in_quotes(name, 100);
  return "# Window contract of " + title.substr(1, title.size() - 2) +
         R"(: what each timed call receives and makes.
# Fill in the four lists. Whatever only one side has needs an [[asymmetry]] entry below.
# plumbline window show CARD shows the boundary and says what is missing.
schema_version = 1

[reference]
window  = ""  # in words: what the stopwatch covers, e.g. "bwd call only"
inputs  = []  # every tensor that the timed call receives, e.g. ["q", "k", "v", "lse", "do"]
outputs = []  # every tensor that it makes, e.g. ["dq", "dk", "dv"]

[student]
window  = ""
inputs  = []
outputs = []

# One entry for each name that only one side receives or makes, and for each input that a prep step hands to both.
# Keyed by exactly one of ref_input, student_input, ref_output, student_output.
#
# [[asymmetry]]
# ref_input = "lse"                   # the reference gets it, the student does not: the student pays
# class = "price"                     # price: the payer's launches are named below
#                                     # accept: the payer does it and the run knowingly pays
#                                     # symmetrize: both sides receive it, made outside both windows (inputs only)
# produced_by = "forward"             # forward, prep, cache or other
# derived_from = "q, k"               # the other side's raw inputs that it comes from
# student_kernel_regex = "flash_fwd"  # launches that do only this work; ref_kernel_regex where the reference pays
# note = "recomputed in the window"
#
# [[asymmetry]]
# ref_input = "mask"
# class = "symmetrize"
# produced_by = "prep"
# shape = [2, 16, 2048]               # what the prep report is held to
# dtype = "fp32"
# workload_shapes = { long = [1, 16, 4096] }  # where a workload's shape differs
)";
}

}  // namespace plumbline
