// SPDX-License-Identifier: Apache-2.0
// Any bytes as a window.toml: reading, every check and both renderers end, within bounds and with an answer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/base/text.h"
#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"
#include "plumbline/report/window_view.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Parsed<WindowContract> parsed = parse_contract(text, "window.toml");
  require(parsed.ok() != has_errors(parsed.diagnostics));
  if (!parsed.ok()) return 0;
  const ContractVerdict verdict = check_contract(*parsed.value);
  if (!parsed.value->declared()) require(refuses(verdict.findings));
  const BoundarySets sets = boundary_sets(*parsed.value);
  const std::size_t inputs = sets.both_inputs.size() + sets.ref_only_inputs.size();
  require(inputs == parsed.value->reference.inputs.size());
  const WindowView view = collect_window(*parsed.value, verdict.findings, verdict.warnings);
  require(render_text(view, Look{}).find('\x1b') == std::string::npos);
  require(render_markdown(view).size() < 100'000);
  return 0;
}
