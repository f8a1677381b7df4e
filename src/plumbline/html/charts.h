// SPDX-License-Identifier: Apache-2.0
// Charts as SVG with presentation attributes only: they stand without any style sheet. The colours are those
// of Okabe and Ito, told apart by every kind of colour vision; a shape or a text always says the same.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/html/element.h"

namespace plumbline::html {

/// Colours by what they mean.
enum class Tone { plain, reference, student, good, bad, warn, dim };
/// "#0072b2", …
std::string_view colour(Tone tone);
/// The colour of the n-th series.
std::string_view series_colour(std::size_t n);

/// A value with its interval on a line of its own.
struct IntervalRow {
  std::string label;
  std::optional<double> value, low, high;
  Tone tone = Tone::plain;
  std::string says;  ///< the value in words, behind the axis
};
/// Intervals under each other on one axis; `gate`, where given, is a dashed line named `gate_label`.
Html interval_chart(const std::string& title, const std::vector<IntervalRow>& rows,
                    std::optional<double> gate, const std::string& gate_label);

/// Samples on one line: a dot each (at most 400 are drawn, evenly taken), and a stroke at `mark`.
struct StripRow {
  std::string label;
  std::vector<double> samples;
  std::optional<double> mark;
  Tone tone = Tone::plain;
};
Html strip_chart(const std::string& title, const std::vector<StripRow>& rows, const std::string& unit);

/// One bar of a table's row: `value` of `most`, in `tone`. The cell beside it says the number.
Html bar(double value, double most, Tone tone);

/// One line of parts that add up.
struct StackRow {
  std::string label;
  std::vector<std::pair<std::string, double>> parts;  ///< name, value; names are shared between rows
  std::string says;                                   ///< behind the bar
};
/// Stacked bars on one axis with a legend of the parts' names.
Html stack_chart(const std::string& title, const std::vector<StackRow>& rows, const std::string& unit);

/// A point of a scatter plot.
struct Point {
  double x = 0, y = 0;
  std::string label;  ///< shown when pointed at
  bool marked = false;
};
struct ScatterOptions {
  std::string x_title, y_title;
  bool log_x = false, log_y = false;
  bool diagonal = false;     ///< draws y = x, and both axes alike
  bool join_marked = false;  ///< joins the marked points in order of x: a front
  std::string zoom;          ///< a reader with scripts can zoom: the id of the data block to write; "" for no
};
/// Points on two axes. Points that are not finite are left out.
Html scatter_chart(const std::string& title, const std::vector<Point>& points, const ScatterOptions& options);

/// A line of points in order of x.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band;  ///< low and high beside each point; empty: none
};
/// Something to be said at an x.
struct LineMark {
  double x = 0;
  std::string label;
};
struct LineOptions {
  std::string x_title, y_title;
  std::vector<LineMark> marks;
  std::vector<std::string> x_labels;  ///< instead of numbers, for x = 0, 1, 2, …
  std::optional<double> level;        ///< a dashed line, at the gate for example
};
Html line_chart(const std::string& title, const std::vector<Series>& series, const LineOptions& options);

}  // namespace plumbline::html
