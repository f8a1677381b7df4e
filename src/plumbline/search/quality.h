// SPDX-License-Identifier: Apache-2.0
// Quality of a shape: from the user's own table, or from a published scaling law. Not installed.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/search/problem.h"
#include "plumbline/search/quantities.h"

namespace plumbline {

/// Rows of a CSV: values of the named quantities, then loss and the ends of its 90 % interval.
struct QualityTable {
  std::vector<std::string> of;
  std::map<std::vector<double>, std::array<double, 3>> rows;
};

/// What the space gains: `loss`, `loss_low`, `loss_high`, less being better.
struct Quality {
  std::vector<Quantity> quantities;  ///< of a law
  QualityTable table;                ///< of a CSV
  std::string note;                  ///< the law with its constants, or the file; what is outside its range
  /// When one shape surely (at 90 %) has the lower loss, in words; empty where losses are exact.
  std::string rule;
  /// Expressions: it has where its `at_most` is no more than the other's `at_least`. Empty with a rule: where
  /// its `loss` is lower.
  std::string at_most, at_least;
  std::optional<LawRange> range;  ///< of a law
};

/// The law or the table. `csv`: the file's text. Error: search-quality-file (with line and column), or
/// search-field-invalid for an unknown law.
Parsed<Quality> load_quality(const SpaceQuality& wanted, const std::string& csv);

}  // namespace plumbline
