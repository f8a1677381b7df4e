// SPDX-License-Identifier: Apache-2.0
// Private to the hf_*.cpp files: the modules that a quantisation names, whether to leave them out or to
// choose them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/regex.h"
#include "plumbline/model/hf_reader.h"

namespace plumbline::detail {

/// A module's name without what stands before its layers: wrappers prefix it in many ways.
std::string_view bare(std::string_view name);

/// One exception: a regular expression ("re:…"), a name with stars, or a run of components.
struct Exception {
  std::string text;
  std::vector<Regex> regex;

  bool matches(std::string_view name) const;
};

/// The list's entries; none where `list` is null. What is not a list of names, or not a regular expression,
/// is an error.
std::vector<Exception> read_exceptions(HfReader& in, const Json* list);
/// Does any of them name the module?
bool excepted(const std::vector<Exception>& exceptions, std::string_view name);

}  // namespace plumbline::detail
