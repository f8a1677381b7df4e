// SPDX-License-Identifier: Apache-2.0
// Private to the charts: the frame, texts and axes that they share. Lengths are user units of a 640 wide
// picture.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/html/axis.h"
#include "plumbline/html/charts.h"

namespace plumbline::html::detail {

inline constexpr double kWidth = 640;  ///< of every chart
inline constexpr std::string_view kInk = "#222";
inline constexpr std::string_view kRule = "#bbb";

/// <figure><svg role="img">, and its caption before it. `axes` and `points`, for a chart that scripts zoom:
/// its axes as JSON, and the id of the data block with its points.
void begin_chart(Html& out, const std::string& title, double height, std::string_view axes = {},
                 std::string_view points = {});
void end_chart(Html& out);
/// `anchor`: start, middle or end.
void label(Html& out, double x, double y, std::string_view text, std::string_view anchor = "start",
           std::size_t max_chars = 0);
void line(Html& out, double x1, double y1, double x2, double y2, std::string_view stroke, double width = 1,
          std::string_view dash = {});
/// Marks, their labels and thin lines over the plot's height (top..bottom).
void x_axis(Html& out, const Axis& axis, double top, double bottom, const std::string& title);
/// The same from left to right.
void y_axis(Html& out, const Axis& axis, double left, double right, const std::string& title);

}  // namespace plumbline::html::detail
