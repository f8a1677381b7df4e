// SPDX-License-Identifier: Apache-2.0
#include "plumbline/html/charts_common.h"

#include <fmt/format.h>

#include <array>

#include "plumbline/base/text.h"

namespace plumbline::html {

std::string_view colour(Tone tone) {
  switch (tone) {
    case Tone::reference:
      return "#0072b2";
    case Tone::student:
      return "#d55e00";
    case Tone::good:
      return "#009e73";
    case Tone::bad:
      return "#d55e00";
    case Tone::warn:
      return "#e69f00";
    case Tone::dim:
      return "#999999";
    case Tone::plain:
      break;
  }
  return "#56b4e9";
}

std::string_view series_colour(std::size_t n) {
  constexpr std::array<std::string_view, 8> kColours{"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                     "#56b4e9", "#d55e00", "#f0e442", "#999999"};
  return kColours[n % kColours.size()];
}

namespace detail {

void begin_chart(Html& out, const std::string& title, double height, std::string_view axes,
                 std::string_view points) {
  if (axes.empty()) {
    out.open("figure", {{"class", "chart"}});
  } else if (points.empty()) {
    out.open("figure", {{"class", "zoom"}, {"data-axes", axes}});
  } else {
    out.open("figure", {{"class", "zoom"}, {"data-axes", axes}, {"data-points", points}});
  }
  out.leaf("figcaption", title);
  // A chart that is wider than the screen scrolls, by keyboard too.
  out.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", title}});
  out.open("svg", {{"viewBox", fmt::format("0 0 {} {}", px(kWidth), px(height))},
                   {"width", px(kWidth)},
                   {"height", px(height)},
                   {"role", "img"},
                   {"aria-label", title},
                   {"font-family", "sans-serif"},
                   {"font-size", "12"}});
}

void end_chart(Html& out) { out.close("svg").close("div").close("figure"); }

void label(Html& out, double x, double y, std::string_view text, std::string_view anchor,
           std::size_t max_chars) {
  out.leaf("text", max_chars > 0 ? cut_middle(one_line(text), max_chars) : std::string(text),
           {{"x", px(x)}, {"y", px(y)}, {"text-anchor", anchor}, {"fill", kInk}, {"class", "ink"}});
}

void line(Html& out, double x1, double y1, double x2, double y2, std::string_view stroke, double width,
          std::string_view dash) {
  out.empty("line", {{"x1", px(x1)},
                     {"y1", px(y1)},
                     {"x2", px(x2)},
                     {"y2", px(y2)},
                     {"stroke", stroke},
                     {"stroke-width", px(width)},
                     {"stroke-dasharray", dash.empty() ? "none" : dash},
                     {"class", stroke == kInk    ? "inkline"
                               : stroke == kRule ? "rule"
                                                 : "series"}});
}

void x_axis(Html& out, const Axis& axis, double top, double bottom, const std::string& title) {
  for (const Tick& tick : ticks(axis)) {
    line(out, axis.at(tick.value), top, axis.at(tick.value), bottom, kRule);
    label(out, axis.at(tick.value), bottom + 16, tick.label, "middle");
  }
  if (!title.empty()) label(out, (axis.from + axis.to) / 2, bottom + 34, title, "middle");
}

void y_axis(Html& out, const Axis& axis, double left, double right, const std::string& title) {
  for (const Tick& tick : ticks(axis)) {
    line(out, left, axis.at(tick.value), right, axis.at(tick.value), kRule);
    label(out, left - 6, axis.at(tick.value) + 4, tick.label, "end");
  }
  if (!title.empty()) label(out, 4, 14, title);
}

}  // namespace detail
}  // namespace plumbline::html
