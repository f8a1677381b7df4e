// SPDX-License-Identifier: Apache-2.0
// Any bytes as a hardware file: refused with an error, or a value that survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/hardware/hardware_file.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = parse_hardware({reinterpret_cast<const char*>(data), size}, "x.toml", "/nonexistent");
  require(parsed.ok() != has_errors(parsed.diagnostics));
  if (!parsed.ok()) return 0;
  const std::string text = write_hardware(*parsed.value);
  const auto again = parse_hardware(text, "x.toml", "/nonexistent");
  require(again.ok() && write_hardware(*again.value) == text);
  return 0;
}
