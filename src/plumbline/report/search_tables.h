// SPDX-License-Identifier: Apache-2.0
// Private to the report and html folders: the tables of a search that text and page share.
#pragma once

#include <string>
#include <vector>

#include "plumbline/report/text_table.h"
#include "plumbline/search/answer.h"

namespace plumbline::detail {

/// A quantity for a reader: counts in groups of three, times with two or four digits.
std::string quantity_text(double value);

/// The objective as the space asks for it: its sign is changed back where it is maximised.
double asked_value(const SpaceObjective& objective, double value);

/// "minimise weighted_ms".
std::string objective_title(const SpaceObjective& objective);

/// Shapes in order: dimensions, times, parameters, loss, ties. `whole`: the band of the times too, and the
/// objectives that no quantity is called like. `shapes` is not empty.
TextTable shape_table(const Problem& problem, const std::vector<ShapeAnswer>& shapes, std::size_t most,
                      bool whole);

/// The winner with one dimension changed; `beside`: to the next value on each side only.
TextTable sensitivity_table(const SearchAnswer& answer, bool beside);

/// What became of the shapes: seen, pruned, refused by each constraint. The counts add up to the space.
TextTable fate_table(const Problem& problem, const Tally& tally);

/// "Nothing dominates these at 90 %: 14 shapes, 3 of the front and 11 only because the loss is uncertain".
std::string undominated_title(const SearchAnswer& answer);

/// How many shapes of the answer are outside the law's range, and what that range is. Some are.
std::string outside_text(const Problem& problem, const SearchAnswer& answer);

/// Shapes of the list that the model cannot tell from the first, the first not counted.
std::size_t count_ties(const SearchAnswer& answer);

}  // namespace plumbline::detail
