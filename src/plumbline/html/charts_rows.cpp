// SPDX-License-Identifier: Apache-2.0
// Charts of rows under each other: intervals, samples, bars, stacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/html/charts_common.h"

namespace plumbline::html {
namespace {

using namespace detail;

constexpr double kLabels = 170;  // width for a row's name
constexpr double kSays = 130;    // and for what stands behind it
constexpr double kRow = 28;
constexpr std::size_t kLabelChars = 26;
constexpr std::size_t kMostDots = 400;

void dot(Html& out, double x, double y, double r, std::string_view fill, double opacity = 1) {
  out.empty("circle", {{"cx", px(x)},
                       {"cy", px(y)},
                       {"r", px(r)},
                       {"fill", fill},
                       {"fill-opacity", fmt::format("{:.2g}", opacity)}});
}

std::vector<double> evenly(const std::vector<double>& samples) {
  if (samples.size() <= kMostDots) return samples;
  std::vector<double> out;
  for (std::size_t i = 0; i < kMostDots; ++i) out.push_back(samples[i * samples.size() / kMostDots]);
  return out;
}

// A colour has come once already after eight series: from the ninth on a part is two stripes of it.
void swatch(Html& out, double x, double y, double width, double height, std::size_t series) {
  const bool striped = series >= 8;
  for (int stripe = 0; stripe < (striped ? 2 : 1); ++stripe) {
    out.empty("rect", {{"x", px(x)},
                       {"y", px(y + 0.65 * height * stripe)},
                       {"width", px(width)},
                       {"height", px(striped ? 0.35 * height : height)},
                       {"fill", series_colour(series)}});
  }
}

}  // namespace

Html interval_chart(const std::string& title, const std::vector<IntervalRow>& rows,
                    std::optional<double> gate, const std::string& gate_label) {
  std::vector<double> values;
  for (const IntervalRow& row : rows) {
    for (const auto& v : {row.value, row.low, row.high}) {
      if (v) values.push_back(*v);
    }
  }
  if (gate) values.push_back(*gate);
  const Axis axis = axis_for(values, kLabels, kWidth - kSays);
  const double top = 22, bottom = top + kRow * static_cast<double>(rows.size());
  Html out;
  begin_chart(out, title, bottom + 24);
  x_axis(out, axis, top, bottom, "");
  if (gate) {
    line(out, axis.at(*gate), top - 4, axis.at(*gate), bottom, kInk, 2, "5 3");
    label(out, axis.at(*gate), top - 8, gate_label, "middle");
  }
  double y = top + kRow / 2;
  for (const IntervalRow& row : rows) {
    label(out, kLabels - 10, y + 4, row.label, "end", kLabelChars);
    if (row.low && row.high) line(out, axis.at(*row.low), y, axis.at(*row.high), y, colour(row.tone), 5);
    if (row.value) dot(out, axis.at(*row.value), y, 5, colour(row.tone));
    label(out, kWidth - kSays + 10, y + 4, row.says, "start", 22);
    y += kRow;
  }
  end_chart(out);
  return out;
}

Html strip_chart(const std::string& title, const std::vector<StripRow>& rows, const std::string& unit) {
  std::vector<double> values;
  for (const StripRow& row : rows) {
    values.insert(values.end(), row.samples.begin(), row.samples.end());
    if (row.mark) values.push_back(*row.mark);
  }
  const Axis axis = axis_for(values, kLabels, kWidth - 20);
  const double top = 8, bottom = top + kRow * static_cast<double>(rows.size());
  Html out;
  begin_chart(out, title, bottom + 42);
  x_axis(out, axis, top, bottom, unit);
  double y = top + kRow / 2;
  for (const StripRow& row : rows) {
    label(out, kLabels - 10, y + 4, row.label, "end", kLabelChars);
    std::size_t i = 0;
    // Spread over three heights, so that equal samples do not hide each other.
    for (const double sample : evenly(row.samples)) {
      if (std::isfinite(sample))
        dot(out, axis.at(sample), y + 5 * (static_cast<double>(i % 3) - 1), 2.5, colour(row.tone), 0.55);
      ++i;
    }
    if (row.mark) line(out, axis.at(*row.mark), y - 11, axis.at(*row.mark), y + 11, kInk, 2);
    y += kRow;
  }
  end_chart(out);
  return out;
}

Html bar(double value, double most, Tone tone) {
  constexpr double kBar = 120;
  const double share = most > 0 && std::isfinite(value) ? std::clamp(value / most, 0.0, 1.0) : 0;
  Html out;
  out.open("svg", {{"width", px(kBar)}, {"height", "10"}, {"aria-hidden", "true"}});
  out.empty("rect", {{"width", px(std::max(1.0, kBar * share))}, {"height", "10"}, {"fill", colour(tone)}});
  out.raw("</svg>");
  return out;
}

Html stack_chart(const std::string& title, const std::vector<StackRow>& rows, const std::string& unit) {
  std::vector<std::string> names;
  std::vector<double> totals{0};
  for (const StackRow& row : rows) {
    double total = 0;
    for (const auto& [name, value] : row.parts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      if (std::isfinite(value) && value > 0) total += value;
    }
    totals.push_back(total);
  }
  Axis axis = axis_for(totals, kLabels, kWidth - kSays);
  axis.low = 0;
  const std::size_t per_line = 4;
  const double legend = 18.0 * static_cast<double>((names.size() + per_line - 1) / per_line);
  const double top = 8 + legend, bottom = top + kRow * static_cast<double>(rows.size());
  Html out;
  begin_chart(out, title, bottom + 42);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double x = 10 + 155.0 * static_cast<double>(i % per_line);
    const double y = 4 + 18.0 * static_cast<double>(i / per_line);
    swatch(out, x, y, 12, 12, i);
    label(out, x + 17, y + 11, names[i], "start", 20);
  }
  x_axis(out, axis, top, bottom, unit);
  double y = top + 4;
  for (const StackRow& row : rows) {
    label(out, kLabels - 10, y + 15, row.label, "end", kLabelChars);
    double sum = 0;
    for (const auto& [name, value] : row.parts) {
      if (!std::isfinite(value) || value <= 0) continue;
      const std::size_t n =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      const double from = axis.at(sum), to = axis.at(sum + value);
      out.open("g").leaf("title", fmt::format("{}: {:.4g} {}", name, value, unit));
      swatch(out, from, y, std::max(0.3, to - from), kRow - 8, n);
      out.close("g");
      sum += value;
    }
    label(out, kWidth - kSays + 10, y + 15, row.says, "start", 22);
    y += kRow;
  }
  end_chart(out);
  return out;
}

}  // namespace plumbline::html
