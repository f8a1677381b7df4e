// SPDX-License-Identifier: Apache-2.0
// What a finished search says: shapes with their quantities, ties, sensitivity; of an empty space the
// conflict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/search/engine.h"
#include "plumbline/search/problem.h"
#include "plumbline/search/undominated.h"

namespace plumbline {

/// One shape of an answer.
struct ShapeAnswer {
  std::int64_t number = 0;
  double value = 0;  ///< the objective (its sign changed where it is maximised); of a front point its first
  std::vector<std::pair<std::string, double>>
      dimensions;  ///< in the space's order; those not in use at their `else`
  std::vector<std::pair<std::string, double>> quantities;  ///< times, parameters, what the space derives
  std::vector<double> front;                               ///< objectives of a front point
  double low_ms = 0, high_ms = 0;                          ///< the 90 % band of weighted_ms
  bool tie = false;  ///< its objective is behind the first's by less than half the band
};

/// A dimension of the winner changed alone.
struct Sensitivity {
  struct Entry {
    double value = 0, objective = 0;
    std::string refused_by;  ///< the constraint that it breaks; the objective is then absent
  };
  std::string dimension;
  double at = 0;               ///< the winner's value
  std::vector<Entry> entries;  ///< at most 17: the values nearest to the winner's
};

/// How many shapes of the answer are outside what the quality's law was fitted to.
struct OutsideLaw {
  bool tokens = false;  ///< the tokens are, and so is every shape
  std::size_t best = 0, front = 0, undominated = 0;
  bool any() const { return tokens || best + front + undominated > 0; }
};

/// The answer to a space.
struct SearchAnswer {
  std::vector<ShapeAnswer> best, front;
  std::vector<ShapeAnswer>
      undominated;                     ///< outside the front, dominated by nothing at 90 %: the first of them
  std::int64_t undominated_count = 0;  ///< of all of them
  OutsideLaw outside;
  std::vector<Sensitivity> sensitivity;
  Tally tally;
};

SearchAnswer make_answer(const Problem& problem, const SearchState& state,
                         const Undominated& undominated = {});

/// A smallest set of constraints that no shape fulfils together.
struct Conflict {
  struct Member {
    std::string name, text;
    std::optional<double>
        gives;  ///< by so much it would have to give, the others held; none: no amount would do
  };
  std::vector<Member> members;
  bool smallest = true;  ///< false: nothing can be left out, and a smaller set was not looked for to the end
};

/// Looks for it in a problem built without filters; none when some shape is allowed after all.
std::optional<Conflict> find_conflict(const Problem& problem, unsigned threads);

/// The conflict as a sentence.
std::string conflict_text(const Problem& problem, const std::optional<Conflict>& conflict);

}  // namespace plumbline
