// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "plumbline/base/codes.h"
#include "plumbline/base/numbers.h"

int main() {
  std::printf("%zu codes, %s\n", plumbline::all_codes().size(), plumbline::format_double(0.1).c_str());
  return plumbline::find_code("toml-syntax") != nullptr ? 0 : 1;
}
