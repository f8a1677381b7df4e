// SPDX-License-Identifier: Apache-2.0
// CodeCounter: which diagnostics of a long list are written out, in text and in JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// Goes through diagnostics and says which are written out.
class CodeCounter {
 public:
  /// Whether `d` is among the first kMostOfACode of its code.
  bool shows(const Diagnostic& d);

  struct Rest {
    Diagnostic diagnostic;  ///< of that code, without a place: "… and 7 more of this kind"
    std::size_t count;      ///< how many were not shown
  };
  /// What was not shown, by code.
  std::vector<Rest> rest() const;

 private:
  std::map<std::string, std::pair<Severity, std::size_t>, std::less<>> seen_;
};

}  // namespace plumbline
