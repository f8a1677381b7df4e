// SPDX-License-Identifier: Apache-2.0
// Charts of points on two axes: scatter plots and lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/html/charts_common.h"
#include "plumbline/html/page.h"

namespace plumbline::html {
namespace {

using namespace detail;

constexpr double kLeft = 64, kRight = kWidth - 16, kTop = 24, kBottom = 330;
constexpr std::size_t kNamedPoints = 400;  // more would make the page large: their table says the same

std::string xy(double x, double y) { return px(x) + "," + px(y); }

/// A dot of `size` user units that keeps its size when the plot is zoomed.
void dots(Html& out, const std::string& path, std::string_view stroke, double size,
          const std::string& title) {
  out.open("path", {{"d", path},
                    {"stroke", stroke},
                    {"stroke-width", px(size)},
                    {"stroke-linecap", "round"},
                    {"vector-effect", "non-scaling-stroke"},
                    {"fill", "none"}});
  if (!title.empty()) out.leaf("title", title);
  out.close("path");
}

/// What the page's script needs to draw the axes again.
std::string axes_json(const Axis& x, const Axis& y) {
  const auto one = [](const Axis& axis) {
    return Json{{"low", axis.low}, {"high", axis.high}, {"log", axis.log}};
  };
  return Json{{"x", one(x)}, {"y", one(y)}, {"left", kLeft}, {"top", kTop}}.dump();
}

bool shown(const Point& p, const ScatterOptions& options) {
  return std::isfinite(p.x) && std::isfinite(p.y) && !(options.log_x && p.x <= 0) &&
         !(options.log_y && p.y <= 0);
}

}  // namespace

Html scatter_chart(const std::string& title, const std::vector<Point>& points,
                   const ScatterOptions& options) {
  std::vector<double> xs, ys;
  for (const Point& p : points) {
    if (!shown(p, options)) continue;
    xs.push_back(p.x);
    ys.push_back(p.y);
  }
  if (options.diagonal) {
    xs.insert(xs.end(), ys.begin(), ys.end());
    ys = xs;
  }
  const Axis x = axis_for(xs, kLeft, kRight, options.log_x);
  const Axis y = axis_for(ys, kBottom, kTop, options.log_y);
  Html out;
  begin_chart(out, title, kBottom + 46, options.zoom.empty() ? "" : axes_json(x, y), options.zoom);
  out.open("g", {{"class", "axes"}});
  x_axis(out, x, kTop, kBottom, "");
  y_axis(out, y, kLeft, kRight, "");
  out.close("g");
  label(out, (kLeft + kRight) / 2, kBottom + 34, options.x_title, "middle");
  label(out, 4, 14, options.y_title);
  // The plot is a picture of its own, from 0, 0: zooming is another view of it.
  out.open("svg", {{"class", "plot"},
                   {"x", px(kLeft)},
                   {"y", px(kTop)},
                   {"width", px(kRight - kLeft)},
                   {"height", px(kBottom - kTop)},
                   {"viewBox", fmt::format("0 0 {} {}", px(kRight - kLeft), px(kBottom - kTop))},
                   {"preserveAspectRatio", "none"}});
  out.empty("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "none"}, {"pointer-events", "all"}});
  const auto place = [&](const Point& p) { return xy(x.at(p.x) - kLeft, y.at(p.y) - kTop); };
  if (options.diagonal)
    line(out, x.at(x.low) - kLeft, y.at(x.low) - kTop, x.at(x.high) - kLeft, y.at(x.high) - kTop, kInk, 1,
         "4 3");
  std::vector<const Point*> marked;
  std::string many;  // one path: ten thousand small elements would be slow to lay out
  Json data = Json::array();
  for (const Point& p : points) {
    if (!shown(p, options)) continue;
    if (!options.zoom.empty()) {
      data.push_back({std::round(10 * (x.at(p.x) - kLeft)) / 10, std::round(10 * (y.at(p.y) - kTop)) / 10,
                      one_line(p.label)});
    }
    if (p.marked) {
      marked.push_back(&p);
    } else if (points.size() > kNamedPoints) {
      many += "M" + place(p) + "h0";
    } else {
      dots(out, "M" + place(p) + "h0", colour(Tone::plain), 6, p.label);
    }
  }
  if (!many.empty()) dots(out, many, colour(Tone::plain), 4, "");
  std::stable_sort(marked.begin(), marked.end(), [](const Point* a, const Point* b) { return a->x < b->x; });
  if (options.join_marked && marked.size() > 1) {
    std::string path;
    for (const Point* p : marked) path += (path.empty() ? "" : " ") + place(*p);
    out.empty("polyline", {{"points", path},
                           {"fill", "none"},
                           {"stroke", colour(Tone::student)},
                           {"stroke-width", "1.5"},
                           {"vector-effect", "non-scaling-stroke"}});
  }
  for (const Point* p : marked) dots(out, "M" + place(*p) + "h0", colour(Tone::student), 9, p->label);
  out.close("svg");
  end_chart(out);
  if (!options.zoom.empty()) add_data(out, options.zoom, data);
  return out;
}

Html line_chart(const std::string& title, const std::vector<Series>& series, const LineOptions& options) {
  std::vector<double> xs, ys;
  for (const Series& s : series) {
    for (const auto& [px_, py_] : s.points) {
      xs.push_back(px_);
      ys.push_back(py_);
    }
    for (const auto& [low, high] : s.band) {
      ys.push_back(low);
      ys.push_back(high);
    }
  }
  if (options.level) ys.push_back(*options.level);
  const Axis x = axis_for(xs, kLeft, kRight);
  const Axis y = axis_for(ys, kBottom, kTop);
  const double legend = series.size() > 1 ? 20.0 * static_cast<double>((series.size() + 3) / 4) : 0;
  Html out;
  begin_chart(out, title, kBottom + 46 + legend);
  if (options.x_labels.empty()) {
    x_axis(out, x, kTop, kBottom, options.x_title);
  } else {
    const std::size_t stride = 1 + options.x_labels.size() / 9;
    for (std::size_t i = 0; i < options.x_labels.size(); i += stride)
      label(out, x.at(static_cast<double>(i)), kBottom + 16, options.x_labels[i], "middle", 12);
    label(out, (kLeft + kRight) / 2, kBottom + 34, options.x_title, "middle");
  }
  y_axis(out, y, kLeft, kRight, options.y_title);
  if (options.level) line(out, kLeft, y.at(*options.level), kRight, y.at(*options.level), kInk, 1.5, "5 3");
  for (std::size_t n = 0; n < series.size(); ++n) {
    const Series& s = series[n];
    std::string band, path;
    for (std::size_t i = 0; i < s.points.size(); ++i) {
      if (!std::isfinite(s.points[i].second)) continue;
      path += (path.empty() ? "" : " ") + xy(x.at(s.points[i].first), y.at(s.points[i].second));
    }
    if (s.band.size() == s.points.size() && !s.band.empty()) {
      for (std::size_t i = 0; i < s.points.size(); ++i)
        band += xy(x.at(s.points[i].first), y.at(s.band[i].second)) + " ";
      for (std::size_t i = s.points.size(); i-- > 0;)
        band += xy(x.at(s.points[i].first), y.at(s.band[i].first)) + " ";
      band.pop_back();
      out.empty("polygon", {{"points", band}, {"fill", series_colour(n)}, {"fill-opacity", "0.18"}});
    }
    out.empty("polyline",
              {{"points", path}, {"fill", "none"}, {"stroke", series_colour(n)}, {"stroke-width", "2"}});
    for (const auto& [px_, py_] : s.points) {
      if (!std::isfinite(py_)) continue;
      out.open("circle",
               {{"cx", px(x.at(px_))}, {"cy", px(y.at(py_))}, {"r", "3"}, {"fill", series_colour(n)}});
      out.leaf("title", fmt::format("{}: {:.6g} at {:.6g}", s.name, py_, px_)).close("circle");
    }
    if (series.size() > 1) {
      const double at = kLeft + 140.0 * static_cast<double>(n % 4);
      out.empty("rect", {{"x", px(at)},
                         {"y", px(kBottom + 44 + 20.0 * static_cast<double>(n / 4))},
                         {"width", "12"},
                         {"height", "12"},
                         {"fill", series_colour(n)}});
      label(out, at + 17, kBottom + 55 + 20.0 * static_cast<double>(n / 4), s.name, "start", 18);
    }
  }
  double high = kTop + 10;
  for (const LineMark& mark : options.marks) {
    line(out, x.at(mark.x), kTop, x.at(mark.x), kBottom, colour(Tone::bad), 1.5, "2 3");
    label(out, std::min(x.at(mark.x) + 4, kRight - 90), high, mark.label, "start", 24);
    high = high > kTop + 70 ? kTop + 10 : high + 14;
  }
  end_chart(out);
  return out;
}

}  // namespace plumbline::html
