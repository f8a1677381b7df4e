// SPDX-License-Identifier: Apache-2.0
// A card out of nothing.
#include <fmt/format.h>

#include "plumbline/cards/written.h"

namespace plumbline {
namespace {

constexpr std::string_view kRemark =
    "# The boundary of both timed calls. Whatever only one side receives or makes needs an [[asymmetry]]:\n"
    "# plumbline window show CARD says which, docs/window-contract.md how it is declared.\n";

constexpr std::string_view kBench =
    R"("""Times both sides over three shapes and writes eval.json.

    plumbline run {name}
"""
import torch
from plumbline import Workload, measure_windows_workloads

SHAPES = {{"t8192_h4096": (8192, 4096), "t2048_h8192": (2048, 8192), "t16384_h1024": (16384, 1024)}}


def make_inputs(tokens, hidden, seed):
    """Fresh random rows, and a weight near 1."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def fresh(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, generator=generator)

    return {{"x": fresh(tokens, hidden), "weight": 1 + 0.1 * fresh(hidden)}}


def workload(name, campaign=False):
    """One shape."""
    tokens, hidden = SHAPES[name]
    return Workload(name, lambda seed: make_inputs(tokens, hidden, seed), campaign=campaign,
                    shape={{"tokens": tokens, "hidden": hidden}})


if __name__ == "__main__":
    measure_windows_workloads(
        [workload("t8192_h4096", campaign=True), workload("t2048_h8192"), workload("t16384_h1024")],
        student="kernel:run",
        reference="reference:run",
        out="eval.json",
    )
)";

constexpr std::string_view kPrepare = R"(import bench  # noqa: E402


def make_inputs(seed):
    """One set of inputs of the workload that is asked for, by default of the campaign's."""
    return bench.make_inputs(*bench.SHAPES[WORKLOAD or "t8192_h4096"], seed)


)";

}  // namespace

NewCard blank_card(std::string_view name) {
  NewCard card;
  const SameBoundary boundary{"each row times the weight, by PyTorch", "the same", {"x", "weight"}, {"out"}};
  card.student = "the reference's own line, to be replaced";
  card.files = {
      {"window.toml", contract_of(boundary, kRemark)},
      {"eval/bench.py", fmt::format(fmt::runtime(kBench), fmt::arg("name", name))},
      {"eval/ncu_run.py", launch_script(kPrepare)},
      {"kernel.py", side_file("The student: put your kernel here. It receives what window.toml lists, and "
                              "returns out. x: [tokens, hidden], weight: [hidden], bf16.",
                              "", {"x", "weight"}, "x * weight")},
      {"reference.py", side_file("The reference. x: [tokens, hidden], weight: [hidden], bf16.", "",
                                 {"x", "weight"}, "x * weight")}};
  return card;
}

}  // namespace plumbline
