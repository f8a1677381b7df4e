// SPDX-License-Identifier: Apache-2.0
// Any bytes as a config.json: refused with an error, or a model whose layers are valid and whose counts are
// positive.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/model/hf_config.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = parse_hf_config({reinterpret_cast<const char*>(data), size}, "config.json");
  require(model.ok() != has_errors(model.diagnostics));
  if (!model.ok()) return 0;
  require(!model.value->layers.empty());
  for (const TransformerLayer& layer : model.value->layers) require(validate(layer.shape).empty());
  require(parameter_count(*model.value) > 0);
  require(kv_bytes(*model.value, 1) == kv_bytes_per_token(*model.value));
  return 0;
}
