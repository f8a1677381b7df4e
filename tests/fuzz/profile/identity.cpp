// SPDX-License-Identifier: Apache-2.0
// Any bytes as a kernel's name: an identity, in bounded time and memory.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plumbline/table/kernel_table.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  const std::string identity = kernel_identity(name);
  if (demangled(name).size() > (64U << 20)) std::abort();
  if (identity.size() > demangled(name).size()) std::abort();
  (void)is_truncated_name(name);
  return 0;
}
