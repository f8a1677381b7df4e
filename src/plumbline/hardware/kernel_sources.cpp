// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/kernel_sources.h"

namespace plumbline {

Parsed<std::vector<std::shared_ptr<const KernelSource>>> read_kernel_sources(const toml::table& document,
                                                                             const std::string& file,
                                                                             const std::string&) {
  using Sources = std::vector<std::shared_ptr<const KernelSource>>;
  if (const toml::node* node = document.get("source")) {
    return failed<Sources>(diagnose("hardware-field-unknown", "[[source]] is not understood here",
                                    location_of(node->source(), file)));
  }
  return {Sources{}, {}};
}

}  // namespace plumbline
