// SPDX-License-Identifier: Apache-2.0
// Problem: a space with its latency models, compiled and tabulated, ready to be searched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/predict.h"
#include "plumbline/search/cost_table.h"
#include "plumbline/search/program.h"
#include "plumbline/search/shape_layer.h"
#include "plumbline/search/space.h"

namespace plumbline {

/// A GPU of the space, its model chosen.
struct SearchHardware {
  Predictor predictor;
  double hbm_bytes = 0;
};

/// A constraint or an objective: its node, and its text for a reader.
struct ProblemRoot {
  std::string name;
  std::string text;
  int node = -1;
};

/// What a law of quality was fitted to, and the tokens that the space asks it about.
struct LawRange {
  std::string law;
  double least_parameters = 0, most_parameters = 0, least_tokens = 0, most_tokens = 0;
  double tokens = 0;
};

/// A front whose loss is not exact: when one shape surely has the lower loss (at 90 %).
struct UncertainLoss {
  std::size_t place = 0;  ///< of the loss among the front's objectives
  std::string rule;       ///< in words
  /// Nodes: a shape has it where its `at_most` is no more than the other's `at_least`. -1: where its loss is.
  int at_most = -1, at_least = -1;
};

/// A compiled space. A shape is the list of places of its dimensions' values; its number is that list read as
/// a number of mixed radix, the first dimension foremost.
struct Problem {
  Space space;
  std::vector<SearchHardware> hardware;
  LayerParts parts;
  std::vector<std::string> symbols;  ///< of the dimensions, as definitions name them
  Program program;
  std::vector<CostTable> tables;
  std::vector<ProblemRoot> constraints;  ///< the space's own ones, and those that every shape must fulfil
  ProblemRoot objective;                 ///< is minimised
  std::vector<ProblemRoot> front;        ///< are minimised
  std::vector<std::pair<std::string, std::string>> definitions;  ///< symbol, expression: in order of use
  std::vector<std::pair<std::string, int>> quantities;           ///< names and nodes, for reports
  int inner = 0;                                                 ///< the dimension that rows run over
  std::int64_t shapes = 0;
  std::int64_t sub_shapes = 0;  ///< distinct ones that the models were asked for
  std::string quality_note;     ///< what the quality is, and where its law was fitted
  std::optional<LawRange> law_range;
  std::optional<UncertainLoss> uncertain_loss;
  std::string key;  ///< SHA-256 of all that decides the answer
};

/// Compiles and tabulates. `hardware[i]` belongs to space.hardware[i]; `quality_csv` is the text of the
/// quality file, where the space names one. `filter`: sub-shapes that the space's constraints refuse are not
/// timed (their times are then no part of any bound); without it constraints may be taken out of the result.
/// Errors: search-name-unknown, search-cycle, search-name-taken, search-too-large, search-overflow,
/// search-no-time, search-model-mismatch, search-quality-file, proxy-no-decode.
Parsed<Problem> build_problem(Space space, std::vector<SearchHardware> hardware,
                              const std::string& quality_csv = {}, unsigned threads = 1, bool filter = true);

/// Places of the values of shape `number`.
std::vector<std::int32_t> places_of(const Problem& problem, std::int64_t number);
/// The number of a shape.
std::int64_t number_of(const Problem& problem, const std::vector<std::int32_t>& places);

/// Every node's value at a shape.
std::vector<double> evaluate_shape(const Problem& problem, const std::vector<std::int32_t>& places);

/// The layer of a shape at a point, with its window or, `full`, without.
ShapeLayer layer_of(const Problem& problem, const std::vector<std::int32_t>& places, const SpacePoint& point,
                    bool full);

/// A named quantity (or field) at a shape; `fallback` where the space has none of that name.
double quantity_of(const Problem& problem, const std::vector<std::int32_t>& places, const std::string& name,
                   double fallback);

}  // namespace plumbline
