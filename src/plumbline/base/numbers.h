// SPDX-License-Identifier: Apache-2.0
// Numbers as text, independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline {

/// The shortest text that reads back as `value`, laid out as Python's repr does: 0.1, 3.0, 1e-07, 1e+16.
/// Non-finite values give "nan", "inf", "-inf".
std::string format_double(double value);

/// Fixed notation with `digits` decimals, correctly rounded: format_fixed(0.7379, 3) is "0.738".
std::string format_fixed(double value, int digits);

/// An integer with thousands separators: 1262000 is "1,262,000".
std::string format_grouped(std::int64_t value);

/// The double that the whole of `text` spells (no blanks, no locale, no hex), or none. "nan" and "inf" are
/// none.
std::optional<double> parse_double(std::string_view text);

/// The integer that the whole of `text` spells in base 10, or none (also when it does not fit).
std::optional<std::int64_t> parse_int(std::string_view text);

/// `value` rounded to `places` decimals, half to even on the exact binary value, as Python's round() does.
double round_places(double value, int places);

}  // namespace plumbline
