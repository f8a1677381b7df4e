// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/toml.h"

namespace plumbline {

Location location_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Parsed<toml::table> parse_toml(std::string_view text, const std::string& file) {
  toml::parse_result result = toml::parse(text, std::string_view(file));
  if (result.failed()) {
    const toml::parse_error& error = result.error();
    return failed<toml::table>(
        diagnose("toml-syntax", std::string(error.description()), location_of(error.source(), file)));
  }
  return {std::move(result).table(), {}};
}

}  // namespace plumbline
