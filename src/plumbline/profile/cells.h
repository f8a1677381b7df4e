// SPDX-License-Identifier: Apache-2.0
// Numbers and units as profilers print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline::profile {

/// What a printed number tells about its separators.
enum class Separators {
  none,           ///< no separator at all
  dot_decimal,    ///< only "1,234.5" explains it: the dot is the decimal point
  comma_decimal,  ///< only "1.234,5" explains it: the comma is the decimal point
  comma_three,    ///< "1,234": thousands, or three decimals
  dot_three,      ///< "1.234": three decimals, or thousands
};

/// A number as printed, read both ways.
struct NumberCell {
  Separators separators = Separators::none;
  int decimals = 0;     ///< digits behind the last separator
  double if_dot = 0;    ///< with a decimal dot (NaN where it cannot be read so)
  double if_comma = 0;  ///< with a decimal comma
};

/// Reads `text`; none when it is not a number ("n/a", "NVIDIA B200", ""). Blanks, no-break blanks and
/// apostrophes between digits are thousands separators everywhere.
std::optional<NumberCell> read_number_cell(std::string_view text);

/// How a file writes its numbers, decided from all of its cells.
class NumberLocale {
 public:
  /// One more cell. `where` is the line, kept for messages.
  void add(const NumberCell& cell, int line);

  enum class Verdict {
    dot,        ///< decimal dot
    comma,      ///< decimal comma
    undecided,  ///< a cell reads as two different numbers, and no other cell tells which
    conflict,   ///< cells contradict each other
  };
  Verdict verdict() const;

  int dot_line() const { return dot_line_; }      ///< first line that proves the decimal dot; 0: none
  int comma_line() const { return comma_line_; }  ///< first line that proves the decimal comma; 0: none
  bool settled() const { return dot_line_ != 0 || comma_line_ != 0; }

  /// A duration of "1,234" in nanoseconds: profilers print no picoseconds, so the comma groups thousands.
  /// This is weaker than a proof, and counts only when nothing else decides.
  void add_whole_nanoseconds(const NumberCell& cell);

  /// A duration of "80.384" in a unit that was scaled to fit (us, ms): such a value is printed with decimals,
  /// so the dot is their mark. Weak evidence too; "80,384" stays open.
  void add_scaled_time(const NumberCell& cell, int line);

  /// One more field of any kind, once settled() is true: kept when it contradicts what was decided. Cheap.
  void contradict(std::string_view field, int line);

 private:
  int dot_line_ = 0;
  int comma_line_ = 0;
  bool comma_three_ = false;
  bool dot_three_ = false;
  bool comma_three_ns_ = false;
  int scaled_line_ = 0;  ///< first line of a scaled duration with a dot and three digits
};

/// What a unit measures.
enum class Quantity { time, bytes, bytes_per_time, frequency, percent };

/// A unit of the profilers: value · scale is in ns, bytes, bytes/s, Hz or %.
struct Unit {
  Quantity quantity = Quantity::time;
  double scale = 1;
};

/// Old and new spellings ("usecond", "us"; "cycle/nsecond", "Ghz"; "Kbyte", "byte/second"). None: unknown.
std::optional<Unit> read_unit(std::string_view text);

/// value · unit in picoseconds, the inside unit of importers: sums of integers do not depend on the order.
/// None when negative, not finite, or beyond 100 days.
std::optional<std::int64_t> to_picoseconds(double value, const Unit& unit);

/// A number with a decimal dot, times 10^power, as a whole one: exactly, where a double loses a quarter of a
/// microsecond of an absolute time. Digits beyond it round to the nearest. None when it is not a number or
/// does not fit.
std::optional<std::int64_t> scaled_integer(std::string_view text, int power);

/// The power of ten that a unit of time is in ns: 3 for us.
int power_of_time(const Unit& unit);

}  // namespace plumbline::profile
