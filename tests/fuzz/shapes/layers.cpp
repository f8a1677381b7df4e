// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of layers, in each format: rows read are rows kept and rows refused, kept rows are
// valid, and the proxy gives each a finite time above 0.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/model/proxy.h"
#include "plumbline/search/layer_file.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr ProxyConstants kGpu{2039, 1300, 600, 900, 500, 1200, 200, 50, 155, 1800};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"x.csv", "x.json", "x.jsonl", "x"}) {
    const LayerFile file = read_layers(text, name);
    require(file.rows_read == file.rows_refused + static_cast<std::int64_t>(file.rows.size()));
    require(!file.rows.empty() || file.errors > 0);
    require(file.diagnostics.size() <= kMaxLayerDiagnostics);
    for (const LayerRow& row : file.rows) {
      require(validate(row.layer).empty());
      const double ms = predict_proxy(kGpu, row.layer).total_ms;
      require(std::isfinite(ms) && ms > 0);
    }
  }
  (void)parse_layer(text);
  return 0;
}
