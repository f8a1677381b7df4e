// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/cells.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline::profile {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// The text without grouping blanks and apostrophes; `grouped` when there were any.
std::optional<std::string> without_groups(std::string_view text, bool& grouped) {
  constexpr std::array<std::string_view, 6> kGroups = {" ", "'", "\u00A0", "\u202F", "\u2009", "\u2019"};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    bool group = false;
    for (const std::string_view g : kGroups) {
      if (text.substr(i, g.size()) != g) continue;
      // Only between a digit and three more digits.
      const std::size_t next = i + g.size();
      if (out.empty() || !digit(out.back()) || next + 2 >= text.size() || !digit(text[next]) ||
          !digit(text[next + 1]) || !digit(text[next + 2])) {
        return std::nullopt;
      }
      grouped = group = true;
      i = next;
      break;
    }
    if (group) continue;
    const char c = text[i];
    if (!digit(c) && c != '.' && c != ',' && c != '-' && c != '+' && c != 'e' && c != 'E')
      return std::nullopt;
    out.push_back(c);
    ++i;
  }
  return out;
}

double with_separators(const std::string& text, char group, char decimal) {
  std::string plain;
  for (const char c : text) {
    if (c == group) continue;
    plain.push_back(c == decimal ? '.' : c);
  }
  if (!plain.empty() && plain.front() == '+') plain.erase(0, 1);
  return parse_double(plain).value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Are the pieces between separators one to three digits, then three each?
bool grouped_in_threes(std::string_view whole, char group) {
  std::size_t at = whole.find(group);
  if (at == 0 || at > 3 || whole.front() == '0') return false;
  while (at != std::string_view::npos) {
    const std::size_t next = whole.find(group, at + 1);
    const std::size_t length = (next == std::string_view::npos ? whole.size() : next) - at - 1;
    if (length != 3) return false;
    at = next;
  }
  return true;
}

/// One kind of separator, `mark`, occurs `count` times in `body` (no sign, no exponent).
Separators classify_single(std::string_view body, char mark, std::size_t count, bool exponent, bool grouped,
                           bool& broken) {
  const bool comma = mark == ',';
  const Separators decimal = comma ? Separators::comma_decimal : Separators::dot_decimal;
  const Separators other = comma ? Separators::dot_decimal : Separators::comma_decimal;
  const bool threes = grouped_in_threes(body, mark);
  if (count > 1) {
    broken = broken || !threes || exponent || grouped;
    return other;  // "1,234,567": grouping commas, hence a decimal dot
  }
  if (!threes || exponent || grouped) return decimal;
  return comma ? Separators::comma_three : Separators::dot_three;
}

}  // namespace

std::optional<NumberCell> read_number_cell(std::string_view text) {
  text = trim(text);
  if (text.empty() ||
      (!digit(text.front()) && text.front() != '-' && text.front() != '+' && text.front() != '.')) {
    return std::nullopt;
  }
  bool grouped = false;
  const auto plain = without_groups(text, grouped);
  if (!plain) return std::nullopt;
  std::string_view body = *plain;
  if (!body.empty() && (body.front() == '-' || body.front() == '+')) body.remove_prefix(1);
  const std::size_t e = body.find_first_of("eE");
  const bool exponent = e != std::string_view::npos;
  body = body.substr(0, e);
  if (body.empty() || body.find_first_of("+-") != std::string_view::npos) return std::nullopt;
  std::size_t commas = 0;
  std::size_t dots = 0;
  for (const char c : body) {
    commas += c == ',' ? 1 : 0;
    dots += c == '.' ? 1 : 0;
  }
  bool broken = false;
  NumberCell cell;
  if (const std::size_t last = body.find_last_of(".,"); last != std::string_view::npos)
    cell.decimals = static_cast<int>(body.size() - last - 1);
  if (commas > 0 && dots > 0) {
    const bool dot_last = body.rfind('.') > body.rfind(',');
    cell.separators = dot_last ? Separators::dot_decimal : Separators::comma_decimal;
    const char group = dot_last ? ',' : '.';
    const std::size_t decimal_at = dot_last ? body.rfind('.') : body.rfind(',');
    broken =
        (dot_last ? dots : commas) != 1 || grouped || !grouped_in_threes(body.substr(0, decimal_at), group);
  } else if (commas > 0) {
    cell.separators = classify_single(body, ',', commas, exponent, grouped, broken);
  } else if (dots > 0) {
    cell.separators = classify_single(body, '.', dots, exponent, grouped, broken);
  }
  if (broken) return std::nullopt;
  cell.if_dot = cell.separators == Separators::comma_decimal ? std::numeric_limits<double>::quiet_NaN()
                                                             : with_separators(*plain, ',', '.');
  cell.if_comma = cell.separators == Separators::dot_decimal ? std::numeric_limits<double>::quiet_NaN()
                                                             : with_separators(*plain, '.', ',');
  if (std::isnan(cell.if_dot) && std::isnan(cell.if_comma)) return std::nullopt;
  return cell;
}

void NumberLocale::add(const NumberCell& cell, int line) {
  switch (cell.separators) {
    case Separators::none:
      break;
    case Separators::dot_decimal:
      if (dot_line_ == 0) dot_line_ = line;
      break;
    case Separators::comma_decimal:
      if (comma_line_ == 0) comma_line_ = line;
      break;
    case Separators::comma_three:
      comma_three_ = true;
      break;
    case Separators::dot_three:
      dot_three_ = true;
      break;
  }
}

void NumberLocale::add_whole_nanoseconds(const NumberCell& cell) {
  if (cell.separators == Separators::comma_three) comma_three_ns_ = true;
}

void NumberLocale::add_scaled_time(const NumberCell& cell, int line) {
  if (cell.separators == Separators::dot_three && scaled_line_ == 0) scaled_line_ = line;
}

void NumberLocale::contradict(std::string_view field, int line) {
  // Settled on a dot, only a comma can contradict, and the other way round; ",ddd" at the end groups
  // thousands.
  if (field.empty()) return;  // a column that the row lacks: memchr takes no null pointer
  const char other = dot_line_ != 0 ? ',' : '.';
  const void* hit = std::memchr(field.data(), other, field.size());
  if (hit == nullptr) return;
  if (field.data() + field.size() - static_cast<const char*>(hit) == 4) return;
  if (const auto cell = read_number_cell(field)) add(*cell, line);
}

NumberLocale::Verdict NumberLocale::verdict() const {
  if (dot_line_ != 0 && comma_line_ != 0) return Verdict::conflict;
  if (dot_line_ != 0) return Verdict::dot;
  if (comma_line_ != 0) return Verdict::comma;
  if (scaled_line_ != 0) return Verdict::dot;
  if (dot_three_) return Verdict::undecided;
  if (comma_three_ && !comma_three_ns_) return Verdict::undecided;
  return Verdict::dot;
}

std::optional<Unit> read_unit(std::string_view text) {
  struct Known {
    std::string_view name;
    Quantity quantity;
    double scale;
  };
  static constexpr auto kUnits = std::to_array<Known>({
      {"ns", Quantity::time, 1},
      {"nsecond", Quantity::time, 1},
      {"us", Quantity::time, 1e3},
      {"usecond", Quantity::time, 1e3},
      {"µs", Quantity::time, 1e3},
      {"μs", Quantity::time, 1e3},
      {"ms", Quantity::time, 1e6},
      {"msecond", Quantity::time, 1e6},
      {"s", Quantity::time, 1e9},
      {"sec", Quantity::time, 1e9},
      {"second", Quantity::time, 1e9},
      {"byte", Quantity::bytes, 1},
      {"bytes", Quantity::bytes, 1},
      {"B", Quantity::bytes, 1},
      {"Kbyte", Quantity::bytes, 1e3},
      {"Mbyte", Quantity::bytes, 1e6},
      {"Gbyte", Quantity::bytes, 1e9},
      {"Tbyte", Quantity::bytes, 1e12},
      {"byte/s", Quantity::bytes_per_time, 1},
      {"byte/second", Quantity::bytes_per_time, 1},
      {"Kbyte/s", Quantity::bytes_per_time, 1e3},
      {"Kbyte/second", Quantity::bytes_per_time, 1e3},
      {"Mbyte/s", Quantity::bytes_per_time, 1e6},
      {"Mbyte/second", Quantity::bytes_per_time, 1e6},
      {"Gbyte/s", Quantity::bytes_per_time, 1e9},
      {"Gbyte/second", Quantity::bytes_per_time, 1e9},
      {"Tbyte/s", Quantity::bytes_per_time, 1e12},
      {"Tbyte/second", Quantity::bytes_per_time, 1e12},
      {"byte/nsecond", Quantity::bytes_per_time, 1e9},
      {"byte/ns", Quantity::bytes_per_time, 1e9},
      {"hz", Quantity::frequency, 1},
      {"Hz", Quantity::frequency, 1},
      {"Khz", Quantity::frequency, 1e3},
      {"Mhz", Quantity::frequency, 1e6},
      {"MHz", Quantity::frequency, 1e6},
      {"Ghz", Quantity::frequency, 1e9},
      {"GHz", Quantity::frequency, 1e9},
      {"cycle/second", Quantity::frequency, 1},
      {"cycle/s", Quantity::frequency, 1},
      {"cycle/msecond", Quantity::frequency, 1e3},
      {"cycle/usecond", Quantity::frequency, 1e6},
      {"cycle/us", Quantity::frequency, 1e6},
      {"cycle/nsecond", Quantity::frequency, 1e9},
      {"cycle/ns", Quantity::frequency, 1e9},
      {"%", Quantity::percent, 1},
  });
  text = trim(text);
  for (const Known& known : kUnits) {
    if (known.name == text) return Unit{known.quantity, known.scale};
  }
  return std::nullopt;
}

std::optional<std::int64_t> to_picoseconds(double value, const Unit& unit) {
  const double picoseconds = value * unit.scale * 1e3;
  constexpr double kMost = 8.64e18;  // 100 days; fits in 63 bits
  if (!(picoseconds >= 0) || picoseconds > kMost || unit.quantity != Quantity::time) return std::nullopt;
  return std::llround(picoseconds);
}

std::optional<std::int64_t> scaled_integer(std::string_view text, int power) {
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) ++at;
  std::int64_t value = 0;
  int exponent = power;  // of ten, still to be applied to `value`
  bool point = false;
  bool any = false;
  bool full = false;  // no more digits fit: they only move the exponent
  int rest = 0;       // the first digit that did not fit
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (!full && value <= (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
        value = value * 10 + (c - '0');
        exponent -= point ? 1 : 0;
      } else {
        if (!full) rest = c - '0';
        full = true;
        exponent += point ? 0 : 1;
      }
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    std::string_view tail = text.substr(at + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    const auto shift = parse_int(tail);
    if (!shift || *shift > 1000 || *shift < -1000) return std::nullopt;
    exponent += static_cast<int>(*shift);
  }
  if (exponent == 0 && rest >= 5) ++value;
  for (; exponent > 0 && value != 0; --exponent) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
  }
  for (; exponent < 0 && value != 0; ++exponent) value = exponent == -1 ? (value + 5) / 10 : value / 10;
  return negative ? -value : value;
}

int power_of_time(const Unit& unit) { return static_cast<int>(std::lround(std::log10(unit.scale))); }

}  // namespace plumbline::profile
