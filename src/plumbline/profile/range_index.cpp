// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/range_index.h"

#include "plumbline/base/text.h"

namespace plumbline::profile {

std::string list_ranges(const std::set<std::string>& names) {
  constexpr std::size_t kEnough = 300;
  std::string list;
  for (const std::string& name : names) {
    if (list.size() < kEnough) list += (list.empty() ? "" : ", ") + printable(cut_middle(name, 60));
  }
  return list;
}

}  // namespace plumbline::profile
