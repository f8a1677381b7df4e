// SPDX-License-Identifier: Apache-2.0
// Space: what SPACE.toml declares, before any latency model is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/layer.h"
#include "plumbline/search/expression.h"

namespace plumbline {

/// A dimension: the values that it takes, ascending. `when`: where it does not hold, the dimension is not in
/// use and stands for `otherwise`.
struct SpaceDimension {
  std::string name;
  std::vector<double> values;
  std::optional<Expression> when;
  double otherwise = 0;
  Location at;
};

/// A quantity derived from others.
struct SpaceDefinition {
  std::string name;
  Expression expression;
};

/// What every shape must fulfil. `upper_band`: times in it are the upper ends of their 90 % bands.
struct SpaceConstraint {
  std::string name;
  Expression expression;
  bool upper_band = false;
};

/// The combinations that some quantities may take together.
struct SpaceRelation {
  std::string name;
  std::vector<std::string> of;
  std::vector<std::vector<double>> tuples;
  Location at;
};

/// What the shape is asked to do: one point of a workload.
struct SpacePoint {
  std::string name;
  Phase phase = Phase::prefill;
  std::int64_t seq_len = 2048;  ///< prompt, or KV length with the new token in decode
  std::int64_t batch_size = 1;
  AttentionBackend backend = AttentionBackend::best;
  double weight = 1;
  Location at;
};

/// A GPU that the points run on.
struct SpaceHardware {
  std::string name;    ///< as the user wrote it: a name or a file
  std::string symbol;  ///< in the names of quantities
  std::string model;   ///< "", "proxy" or "measured"
  std::string source;
  double weight = 1;
  Location at;
};

/// What is minimised. A maximised expression is minimised with its sign changed.
struct SpaceObjective {
  Expression expression;
  bool maximise = false;
};

/// Where the quality of a shape comes from: a table of the user's, or a published law.
struct SpaceQuality {
  std::string csv;     ///< path, relative to the space file
  std::string law;     ///< name of a law
  double tokens = 0;   ///< the law's training tokens
  double scatter = 0;  ///< standard error of a shape's own loss about the law
  Location at;
};

/// A whole space file.
struct Space {
  std::string file;
  std::string name;
  std::string title;
  std::vector<SpaceDimension> dimensions;
  std::vector<SpaceDefinition> derived;
  std::vector<SpaceConstraint> constraints;
  std::vector<SpaceRelation> relations;
  std::vector<SpacePoint> points;
  std::vector<SpaceHardware> hardware;
  SpaceObjective objective;
  std::vector<SpaceObjective> front;  ///< none, or two or three: their Pareto front is asked for too
  std::int64_t top = 10;
  std::optional<SpaceQuality> quality;
};

/// The largest number of shapes of a space, dimensions, values of one, and shapes listed in an answer.
inline constexpr std::int64_t kMaxShapes = std::int64_t{1} << 62;
inline constexpr std::size_t kMaxDimensions = 32;
inline constexpr std::size_t kMaxValues = 65536;
inline constexpr std::int64_t kMaxTop = 10000;

/// Reads a space file; docs/search.md describes it. Every error is found in one go. Codes: toml-syntax,
/// search-field-missing, search-field-invalid, search-field-unknown, search-expression, search-name-taken,
/// search-too-large.
Parsed<Space> parse_space(std::string_view text, const std::string& file);

/// Product of the dimensions' sizes; parse_space() refuses what exceeds kMaxShapes.
std::int64_t shape_count(const Space& space);

}  // namespace plumbline
