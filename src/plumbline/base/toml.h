// SPDX-License-Identifier: Apache-2.0
// The entry point to TOML. toml++ 3.3: include this header, never <toml++/toml.h> alone.
#pragma once

#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_UNRELEASED_FEATURES 0
#include <toml++/impl/preprocessor.h>
// On hostile text ("[[[") toml++ 3.3 meets its own assertions: an abort, or with NDEBUG an assumption that is
// false and so undefined behaviour. Without them the same places report an ordinary syntax error.
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)

#include <toml++/toml.h>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// A TOML 1.0 document. Errors: toml-syntax with line and column. A number beyond 64 bits does not make the
/// text another language: it is read as the nearest one (an infinity for a float), with the warning
/// toml-number-range.
Parsed<toml::table> parse_toml(std::string_view text, const std::string& file);

/// Where a node stands.
Location location_of(const toml::source_region& region, const std::string& file);

}  // namespace plumbline
