// SPDX-License-Identifier: Apache-2.0
// What nothing dominates at 90 %, against every pair of shapes, on random spaces; a law's range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plumbline/base/statistics.h"
#include "plumbline/report/search_report.h"
#include "plumbline/search/answer.h"
#include "plumbline/search/engine.h"
#include "plumbline/search/space.h"
#include "plumbline/search/undominated.h"

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

SearchHardware proxy_gpu() {
  Predictor predictor;
  predictor.hardware = "gpu";
  predictor.model = LatencyModel::proxy;
  predictor.proxy = {3000, 2000, 900, 1500, 800, 2000, 500, 100, 400, 2800};
  return {std::move(predictor), 80e9};
}

struct Draw {
  std::uint64_t seed, count = 0;
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(counter_random(seed, count++) %
                                           static_cast<std::uint64_t>(high - low + 1));
  }
};

using Key = std::pair<double, double>;  // hidden_dim, ffn_dim

/// A space whose losses are a table's; the few values that losses and errors take make ties.
struct TableSpace {
  std::string text, csv;
  std::map<Key, std::pair<double, double>> losses;  // and their standard errors
  bool third = false;
};

TableSpace table_space(std::uint64_t seed, bool exact) {
  Draw draw{seed};
  TableSpace out;
  const std::int64_t widths = draw(2, 6), sizes = draw(2, 9);
  out.third = draw(0, 1) == 1;
  out.text = fmt::format(
      "[dimensions]\nhidden_dim = {{ from = 256, to = {}, step = 64 }}\nnum_heads = [2, 4]\n"
      "num_kv_heads = [1, 2]\nffn_dim = {{ from = 512, to = {}, step = 128 }}\n[derived]\nhead_dim = 64\n"
      "[constraints]\nsize = \"hidden_dim + ffn_dim >= {}\"\n[[point]]\nname = \"a\"\nphase = \"prefill\"\n"
      "seq_len = {}\n[objective]\nminimise = \"a_ms\"\ntop = 3\nfront = [{}\"a_ms\", \"loss\"]\n[quality]\n"
      "csv = \"q.csv\"\n",
      256 + 64 * (widths - 1), 512 + 128 * (sizes - 1), draw(700, 1200), draw(64, 600),
      out.third ? "\"kv_bytes_per_token\", " : "");
  out.csv = "hidden_dim,ffn_dim,loss,stderr\n";
  for (std::int64_t w = 0; w < widths; ++w) {
    for (std::int64_t f = 0; f < sizes; ++f) {
      if (draw(0, 5) == 0) continue;  // a shape without a loss is not allowed
      const double loss = 2 + 0.05 * static_cast<double>(draw(0, 20));
      const double error = exact || draw(0, 3) == 0 ? 0.0 : 0.01 * static_cast<double>(draw(1, 12));
      const Key key(256 + 64 * static_cast<double>(w), 512 + 128 * static_cast<double>(f));
      out.losses[key] = {loss, error};
      out.csv += fmt::format("{},{},{},{}\n", key.first, key.second, loss, error);
    }
  }
  return out;
}

Parsed<Problem> problem_of(const std::string& text, const std::string& csv = {}) {
  auto space = parse_space(text, "space.toml");
  if (!space.ok()) return {std::nullopt, space.diagnostics};
  return build_problem(std::move(*space.value), {proxy_gpu()}, csv, 2);
}

std::string messages(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& each : diagnostics) out += format_diagnostic(each) + "\n";
  return out;
}

struct Found {
  SearchState state;
  Undominated undominated;
};

Found search(const Problem& problem, unsigned threads, bool prune) {
  SearchOptions options;
  options.prune = prune;
  Found out;
  const Engine engine(problem, options);
  out.state = engine.start();
  EXPECT_EQ(run_search(engine, out.state, threads), SearchEnd::whole);
  EXPECT_EQ(
      find_undominated(
          problem, out.state.front, options, threads, {}, [](std::size_t, std::size_t) {}, out.undominated),
      SearchEnd::whole);
  return out;
}

/// An allowed shape: what else the front asks of it, its loss and the error of that, its objective.
struct Plain {
  std::int64_t number = 0;
  std::vector<double> others;
  double loss = 0, error = 0, objective = 0;
};

std::vector<Plain> all_allowed(const Problem& problem,
                               const std::function<std::pair<double, double>(
                                   const std::vector<double>&, const std::vector<std::int32_t>&)>& loss_of) {
  std::vector<Plain> out;
  for (std::int64_t number = 0; number < problem.shapes; ++number) {
    const auto places = places_of(problem, number);
    const std::vector<double> values = evaluate_shape(problem, places);
    if (std::any_of(problem.constraints.begin(), problem.constraints.end(),
                    [&](const ProblemRoot& c) { return values[static_cast<std::size_t>(c.node)] == 0; }))
      continue;
    Plain one;
    one.number = number;
    for (const ProblemRoot& each : problem.front) {
      if (each.text != "loss") one.others.push_back(values[static_cast<std::size_t>(each.node)]);
    }
    std::tie(one.loss, one.error) = loss_of(values, places);
    one.objective = values[static_cast<std::size_t>(problem.objective.node)];
    out.push_back(std::move(one));
  }
  return out;
}

/// Numbers of the shapes that no other dominates; `apart` is by how much one loss is surely under another's.
template <class Apart>
std::vector<std::int64_t> kept(const std::vector<Plain>& shapes, Apart apart) {
  std::vector<std::int64_t> out;
  for (const Plain& b : shapes) {
    const bool dominated = std::any_of(shapes.begin(), shapes.end(), [&](const Plain& a) {
      if (a.number == b.number) return false;
      for (std::size_t i = 0; i < a.others.size(); ++i) {
        if (a.others[i] > b.others[i]) return false;
      }
      const double surely = apart(a, b);
      if (surely < -1e-12) return false;
      // Of shapes that are equal in everything the first stands.
      return a.others != b.others || surely > 1e-12 || a.number < b.number;
    });
    if (!dominated) out.push_back(b.number);
  }
  return out;
}

std::vector<std::int64_t> beside_front(const std::vector<std::int64_t>& set, const Front& front) {
  std::vector<std::int64_t> out;
  for (const std::int64_t number : set) {
    if (std::none_of(front.points.begin(), front.points.end(),
                     [&](const FrontPoint& p) { return p.number == number; }))
      out.push_back(number);
  }
  EXPECT_EQ(out.size() + front.points.size(), set.size()) << "a shape of the exact front is not in the set";
  return out;
}

void expect_set(const Problem& problem, const std::vector<Plain>& shapes, std::vector<std::int64_t> set) {
  const Found one = search(problem, 1, true);
  const auto expected = beside_front(set, one.state.front);
  EXPECT_EQ(one.undominated.count, static_cast<std::int64_t>(expected.size()));
  std::vector<Candidate> candidates;
  for (const Plain& each : shapes) {
    if (std::binary_search(expected.begin(), expected.end(), each.number))
      candidates.push_back({each.objective, each.number});
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.resize(std::min(candidates.size(), kMostUndominated));  // all are counted, so many are listed
  EXPECT_EQ(one.undominated.first, candidates);
  for (const auto& [threads, prune] : {std::pair(8U, true), std::pair(2U, false)}) {
    const Found other = search(problem, threads, prune);
    EXPECT_EQ(other.undominated.first, one.undominated.first);
    EXPECT_EQ(other.undominated.count, one.undominated.count);
  }
}

TEST(Undominated, IsWhatEveryPairOfShapesSaysOfATable) {
  constexpr double kOneSidedNinety = 1.2815515655446004;
  std::size_t uncertain_only = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const TableSpace random = table_space(seed, false);
    const auto problem = problem_of(random.text, random.csv);
    ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
    ASSERT_TRUE(problem.value->uncertain_loss);
    const auto shapes = all_allowed(*problem.value, [&](const auto&, const auto& places) {
      const auto& dimensions = problem.value->space.dimensions;
      return random.losses.at({dimensions[0].values[static_cast<std::size_t>(places[0])],
                               dimensions[3].values[static_cast<std::size_t>(places[3])]});
    });
    const auto set = kept(shapes, [](const Plain& a, const Plain& b) {
      return b.loss - a.loss - kOneSidedNinety * (a.error + b.error);
    });
    const Found found = search(*problem.value, 1, true);
    uncertain_only += set.size() - found.state.front.points.size();
    expect_set(*problem.value, shapes, set);
  }
  EXPECT_GT(uncertain_only, 100U);
}

TEST(Undominated, IsTheFrontWhereLossesAreExact) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TableSpace random = table_space(seed, true);
    const auto problem = problem_of(random.text, random.csv);
    ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
    EXPECT_FALSE(problem.value->uncertain_loss);
    const auto shapes = all_allowed(*problem.value, [&](const auto&, const auto& places) {
      const auto& dimensions = problem.value->space.dimensions;
      return random.losses.at({dimensions[0].values[static_cast<std::size_t>(places[0])],
                               dimensions[3].values[static_cast<std::size_t>(places[3])]});
    });
    const auto set = kept(shapes, [](const Plain& a, const Plain& b) { return b.loss - a.loss; });
    EXPECT_TRUE(beside_front(set, search(*problem.value, 1, true).state.front).empty());
  }
}

constexpr const char* kLawSpace =
    "[dimensions]\nhidden_dim = { from = 512, to = 1024, step = 64 }\nnum_heads = [4, 8]\nnum_kv_heads = [2, "
    "4]\n"
    "ffn_dim = { from = 1024, to = 4096, step = 384 }\nnum_layers = { from = 12, to = 24, step = 4 }\n"
    "[derived]\nhead_dim = 64\nvocab_size = 32000\n[constraints]\n[[point]]\nname = \"a\"\nphase = "
    "\"prefill\"\n"
    "[objective]\nminimise = \"a_ms\"\ntop = 5\nfront = [\"a_ms\", \"loss\"]\n[quality]\nlaw = "
    "\"besiroglu2024\"\n";

TEST(Undominated, OfALawIsTheFrontWithoutAScatterAndMoreWithOne) {
  const auto certain = problem_of(std::string(kLawSpace) + "tokens = 1e11\n");
  ASSERT_TRUE(certain.ok()) << messages(certain.diagnostics);
  ASSERT_TRUE(certain.value->uncertain_loss);
  EXPECT_LT(certain.value->uncertain_loss->at_most, 0);
  EXPECT_EQ(search(*certain.value, 2, true).undominated.count, 0);
  std::int64_t before = 0;
  for (const double scatter : {0.0005, 0.005, 0.05}) {
    SCOPED_TRACE(scatter);
    const auto problem = problem_of(fmt::format("{}tokens = 1e11\nscatter = {}\n", kLawSpace, scatter));
    ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
    // Here by another way than the search: the least difference over a grid of A and alpha inside their
    // bounds.
    const auto shapes = all_allowed(*problem.value, [&](const auto& values, const auto&) {
      const auto& quantities = problem.value->quantities;
      const auto at = std::find_if(quantities.begin(), quantities.end(),
                                   [](const auto& each) { return each.first == "parameters"; });
      return std::pair(values[static_cast<std::size_t>(at->second)], scatter);
    });
    const auto set = kept(shapes, [&](const Plain& a, const Plain& b) {
      double least = std::numeric_limits<double>::infinity();
      for (const double u : {-1.0, 0.0, 1.0}) {
        for (const double v : {-1.0, 0.0, 1.0}) {
          const double A = 482.01 + u * 1.959963984540054 * 124.58;
          const double alpha = 0.3478 + v * 1.959963984540054 * 0.02;
          least = std::min(least, A * (std::pow(b.loss, -alpha) - std::pow(a.loss, -alpha)));
        }
      }
      return least - 1.6448536269514722 * 2 * scatter;
    });
    expect_set(*problem.value, shapes, set);
    const std::int64_t count = search(*problem.value, 2, true).undominated.count;
    EXPECT_GT(count, before);
    before = count;
  }
  EXPECT_GT(before, static_cast<std::int64_t>(kMostUndominated));
}

TEST(Undominated, TheAnswerSaysItAndWhatIsOutsideTheLaw) {
  const auto problem = problem_of(std::string(kLawSpace) + "tokens = 1e12\nscatter = 0.01\n");
  ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
  const Found found = search(*problem.value, 2, true);
  const SearchAnswer answer = make_answer(*problem.value, found.state, found.undominated);
  EXPECT_TRUE(answer.outside.tokens);
  const Json json = search_json(*problem.value, answer);
  const Json& set = json.at("undominated_90");
  EXPECT_EQ(set.at("shapes").get<std::int64_t>(),
            found.undominated.count + static_cast<std::int64_t>(found.state.front.points.size()));
  EXPECT_EQ(set.at("uncertain_only").get<std::int64_t>(), found.undominated.count);
  EXPECT_EQ(set.at("listed").size(), std::min<std::size_t>(kMostUndominated, found.undominated.first.size()));
  EXPECT_TRUE(json.at("outside_law").at("tokens_outside").get<bool>());
  EXPECT_THAT(search_text(*problem.value, answer, {}),
              ::testing::HasSubstr("every loss here is extrapolated"));

  std::string small = kLawSpace;
  small.replace(small.find("vocab_size = 32000"), 18, "vocab_size = 1000");
  small.replace(small.find("from = 12, to = 24"), 18, "from = 4, to = 24");
  const auto tiny = problem_of(small + "tokens = 1e11\n");
  ASSERT_TRUE(tiny.ok()) << messages(tiny.diagnostics);
  const Found of_tiny = search(*tiny.value, 2, true);
  const SearchAnswer said = make_answer(*tiny.value, of_tiny.state, of_tiny.undominated);
  std::size_t outside = 0;
  for (const ShapeAnswer& each : said.front) {
    for (const auto& [name, value] : each.quantities)
      outside += name == "parameters" && value < 70e6 ? 1U : 0U;
  }
  EXPECT_GT(outside, 0U);
  EXPECT_LT(outside, said.front.size());
  EXPECT_EQ(said.outside.front, outside);
  EXPECT_EQ(said.outside.best, said.best.size());
  EXPECT_THAT(search_text(*tiny.value, said, {}),
              ::testing::HasSubstr(fmt::format("{} of the {} on the front", outside, said.front.size())));
}

TEST(Undominated, AScatterBelongsToALaw) {
  const auto space = parse_space(std::string(kLawSpace).replace(std::string(kLawSpace).find("law"), 22,
                                                                "csv = \"q.csv\"\nscatter = 0.1"),
                                 "space.toml");
  ASSERT_FALSE(space.ok());
  EXPECT_THAT(messages(space.diagnostics), ::testing::HasSubstr("stderr"));
}

}  // namespace
}  // namespace plumbline
