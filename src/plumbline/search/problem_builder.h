// SPDX-License-Identifier: Apache-2.0
// ProblemBuilder: from a space to a Problem, step by step. Not installed.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/search/problem.h"
#include "plumbline/search/quantities.h"
#include "plumbline/search/tabulate.h"

namespace plumbline {

/// The three ways that a layer of a point is timed.
enum class Variant { plain, full, window };

/// Milliseconds as whole picoseconds: sums of them are exact in any order.
double picoseconds(double ms);

/// The steps of build_problem(); each is false when it found an error.
class ProblemBuilder {
 public:
  ProblemBuilder(Space space, std::vector<SearchHardware> hardware, unsigned threads);
  Parsed<Problem> build(const std::string& quality_csv, bool filter);

 private:
  Parsed<Problem> fail() { return {std::nullopt, std::move(found_)}; }
  bool good(const Diagnostics& diagnostics);
  static Expression expression_of(const std::string& text) { return *parse_expression(text, {}).value; }
  void define_all();
  /// Rows run over the dimension with the most values.
  void choose_inner();
  bool compile_fields();
  TableContext context() const;
  /// A finished table under its name.
  void add(CostTable table);
  /// A table of `value(fields' values)` for names of the space.
  bool add_lookup(const std::string& name, const std::vector<std::string>& of, const Location& at,
                  const std::function<double(const std::vector<double>&)>& value);
  bool add_relations();
  bool add_quality(const std::string& csv);
  /// Compiles what decides, without times, whether a shape is allowed at all.
  bool tabulate_filters(bool filter);
  /// Both sides of an `and` are filters; tables of sizes and not of times are not looked up here.
  void collect(int at);
  /// Times are not compiled yet when filters are.
  bool mentions_time(const Expression& expression, int depth = 0) const;
  bool needs_band() const;
  /// Groups, tabulates and names sources; the sum is `symbol`.
  bool add_sum(const std::string& symbol, std::vector<CostSource> sources);
  bool add_layer(const SpacePoint& point, const SearchHardware& gpu, const std::string& base, Variant variant,
                 bool band);
  bool add_outside(const SpacePoint& point, const SearchHardware& gpu, const std::string& base, bool high);
  bool check_parts();
  bool add_times();
  bool root(const std::string& name, const Expression& expression, bool upper_band, bool maximise,
            ProblemRoot& out);
  bool compile_roots();
  /// The bounds by which one shape surely has the lower loss, where the front asks for the loss.
  bool compile_uncertain_loss();
  /// No sum of times may leave the whole numbers that doubles hold, and nothing may be infinite.
  bool check_ranges();
  /// The sums must be what the model itself says of whole layers; a field forgotten in a kernel's list would
  /// show here.
  bool check_model();
  void finish();
  /// All that decides the answer, hashed.
  std::string key() const;

  unsigned threads_;
  Problem problem_;
  ProgramBuilder builder_;
  Diagnostics found_;
  std::array<int, kShapeFields> fields_{};
  int vocabulary_ = -1;
  std::vector<int> filters_;
  std::vector<Quantity> basic_, extra_;
  std::vector<std::pair<std::string, std::string>> constants_;
  std::string rule_, at_most_, at_least_;  ///< of an uncertain quality
  bool whole_model_ = false, pattern_ = false;
  double largest_ = 0;
};

}  // namespace plumbline
