// SPDX-License-Identifier: Apache-2.0
// The exact search against plain enumeration with the model itself, on random spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "plumbline/base/statistics.h"
#include "plumbline/model/measured.h"
#include "plumbline/search/answer.h"
#include "plumbline/search/checkpoint.h"
#include "plumbline/search/engine.h"
#include "plumbline/search/space.h"

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

DataSheet sheet() { return {"GPU", "sheet", 100, 3000, 800, 50'000'000, 80'000'000'000}; }

SearchHardware gpu(bool measured) {
  Predictor predictor;
  predictor.hardware = "gpu";
  predictor.model = measured ? LatencyModel::measured : LatencyModel::proxy;
  if (measured) {
    predictor.source = specification_source(sheet());
  } else {
    predictor.proxy = {3000, 2000, 900, 1500, 800, 2000, 500, 100, 400, 2800};
  }
  return {std::move(predictor), 80e9};
}

/// Draws of one stream.
struct Draw {
  std::uint64_t seed, count = 0;
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(counter_random(seed, count++) %
                                           static_cast<std::uint64_t>(high - low + 1));
  }
};

struct RandomSpace {
  std::string text;
  bool measured = false, model = false, window = false, two_fronts = false;
};

RandomSpace random_space(std::uint64_t seed) {
  Draw draw{seed};
  RandomSpace out;
  out.measured = draw(0, 1) == 1;
  out.model = draw(0, 1) == 1;
  out.window = draw(0, 2) == 0;
  std::string& t = out.text;
  t = "[dimensions]\n";
  t += fmt::format("hidden_dim = {{ from = {}, to = {}, step = 64 }}\n", 64 * draw(4, 8), 64 * draw(9, 14));
  t += "head_dim = [64, 128]\n";
  t += fmt::format("num_kv_heads = {{ from = 1, to = {} }}\n", draw(1, 4));
  t += fmt::format("num_heads = {{ from = 1, to = {} }}\n", draw(4, 8));
  t += fmt::format("ffn_dim = {{ from = 256, to = {}, step = {} }}\n", 256 + draw(100, 2000), 8 * draw(2, 6));
  if (out.model) t += fmt::format("num_layers = {{ from = 2, to = {} }}\n", draw(3, 5));
  if (out.window) t += "window_size = { values = [128, 512], when = \"head_dim == 64\", else = 0 }\n";
  t += "[derived]\nvocab_size = 1000\nratio = \"ffn_dim / hidden_dim\"\n";
  t += fmt::format("[constraints]\nratio = \"{} <= ratio <= {}\"\n", 0.1 * static_cast<double>(draw(2, 8)),
                   0.1 * static_cast<double>(draw(10, 40)));
  if (draw(0, 1) == 1) t += fmt::format("size = \"parameters <= {}\"\n", 1'000'000 * draw(1, 20));
  if (draw(0, 1) == 1) t += fmt::format("fast = \"a_ms <= {}\"\n", 0.01 * static_cast<double>(draw(1, 60)));
  t += fmt::format("[[point]]\nname = \"a\"\nphase = \"prefill\"\nseq_len = {}\nweight = 2\n", draw(64, 600));
  if (out.measured)
    t += "[[point]]\nname = \"b\"\nphase = \"decode\"\nseq_len = 700\nbatch_size = 5\nweight = 3\n";
  out.two_fronts = draw(0, 1) == 1;
  const std::string third = draw(0, 1) == 1 ? ", \"kv_bytes_per_token\"" : "";
  t += fmt::format("[objective]\nminimise = \"{}\"\ntop = {}\n",
                   draw(0, 1) == 1 ? "weighted_ms" : "ms_per_billion_parameters", draw(1, 30));
  if (out.two_fronts)
    t += fmt::format("front = [\"weighted_ms\", {{ maximise = \"parameters\" }}{}]\n", third);
  return out;
}

Parsed<Problem> problem_of(const RandomSpace& random) {
  auto space = parse_space(random.text, "space.toml");
  if (!space.ok()) return {std::nullopt, space.diagnostics};
  return build_problem(std::move(*space.value), {gpu(random.measured)}, {}, 2);
}

std::string messages(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& each : diagnostics) out += format_diagnostic(each) + "\n";
  return out;
}

double ps(double ms) { return std::round(ms * 1e9); }

/// One shape by the model alone: no table, no program.
struct Plain {
  bool allowed = false;
  double weighted = 0, parameters = 0, kv = 0;
};

Plain plain(const Problem& problem, const RandomSpace& random, const std::map<std::string, double>& v) {
  Plain out;
  const auto at = [&](const char* name) { return v.at(name); };
  Layer layer;
  layer.hidden_dim = static_cast<std::int64_t>(at("hidden_dim"));
  layer.head_dim = static_cast<std::int64_t>(at("head_dim"));
  layer.num_heads = static_cast<std::int64_t>(at("num_heads"));
  layer.num_kv_heads = static_cast<std::int64_t>(at("num_kv_heads"));
  layer.ffn_dim = static_cast<std::int64_t>(at("ffn_dim"));
  if (random.window) layer.window_size = static_cast<std::int64_t>(at("window_size"));
  if (!validate(layer).empty()) return out;
  const std::int64_t layers = random.model ? static_cast<std::int64_t>(at("num_layers")) : 1;
  const std::int64_t d = layer.hidden_dim;
  std::int64_t parameters =
      d * (2 * layer.num_heads + 2 * layer.num_kv_heads) * layer.head_dim + 3 * d * layer.ffn_dim + 2 * d;
  if (random.model) parameters = layers * parameters + 2 * 1000 * d + d;
  out.parameters = static_cast<double>(parameters);
  out.kv = static_cast<double>(layers * 2 * layer.num_kv_heads * layer.head_dim * 2);
  double a_ms = 0;
  for (std::size_t p = 0; p < problem.space.points.size(); ++p) {
    const SpacePoint& point = problem.space.points[p];
    layer.phase = point.phase;
    layer.seq_len = point.seq_len;
    layer.batch_size = point.batch_size;
    const Predictor& predictor = problem.hardware[0].predictor;
    double sum = 0;
    const Prediction prediction = predict(predictor, layer);
    for (const KernelTime& kernel : prediction.kernels()) sum += ps(kernel.ms);
    if (random.model) {
      const std::int64_t rows = point.batch_size * (point.phase == Phase::decode ? 1 : point.seq_len);
      sum = static_cast<double>(layers) * sum + ps(predict_embedding(predictor, "e", rows, d).ms) +
            ps(predict_rmsnorm(predictor, "n", rows, d).ms) +
            ps(predict_gemm(predictor, "h", point.batch_size, 1000, d).ms);
    }
    const double ms = sum * 1e-9;
    if (p == 0) a_ms = ms;
    out.weighted = p == 0 ? point.weight * ms : out.weighted + point.weight * ms;
  }
  out.allowed = true;
  for (const SpaceConstraint& each : problem.space.constraints) {
    const ExpressionNode& last = each.expression.nodes.back();
    const ExpressionNode& limit = each.expression.nodes[static_cast<std::size_t>(last.b)];
    if (each.name == "ratio") {
      const double ratio = at("ffn_dim") / at("hidden_dim");
      double low = 0, high = 0;
      std::sscanf(each.expression.text.c_str(), "%lf <= ratio <= %lf", &low, &high);
      out.allowed = out.allowed && low <= ratio && ratio <= high;
    } else if (each.name == "size") {
      out.allowed = out.allowed && out.parameters <= limit.value;
    } else {
      out.allowed = out.allowed && a_ms <= limit.value;
    }
  }
  return out;
}

struct Expected {
  TopList top;
  std::vector<FrontPoint> points;
  std::int64_t allowed = 0;
};

Expected enumerate(const Problem& problem, const RandomSpace& random) {
  Expected out;
  out.top.limit = static_cast<std::size_t>(problem.space.top);
  std::vector<FrontPoint> all;
  for (std::int64_t n = 0; n < problem.shapes; ++n) {
    const auto places = places_of(problem, n);
    std::map<std::string, double> v;
    bool in_use = true;
    for (std::size_t d = 0; d < places.size(); ++d) {
      const SpaceDimension& each = problem.space.dimensions[d];
      v[each.name] = each.values[static_cast<std::size_t>(places[d])];
    }
    if (random.window && v["head_dim"] != 64) {
      in_use = v["window_size"] == 128;
      v["window_size"] = 0;
    }
    const Plain shape = in_use ? plain(problem, random, v) : Plain{};
    if (!shape.allowed) continue;
    ++out.allowed;
    const bool weighted = problem.space.objective.expression.text == "weighted_ms";
    out.top.add({weighted ? shape.weighted : shape.weighted / (shape.parameters / 1e9), n});
    FrontPoint point;
    point.number = n;
    point.value = {shape.weighted, -shape.parameters, problem.front.size() == 3 ? shape.kv : 0};
    all.push_back(point);
  }
  if (!problem.front.empty()) {
    for (const FrontPoint& each : all) {
      const bool dominated = std::any_of(all.begin(), all.end(), [&](const FrontPoint& other) {
        return other.number != each.number && Front::covers(other, each);
      });
      if (!dominated) out.points.push_back(each);
    }
  }
  std::sort(out.points.begin(), out.points.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return out;
}

SearchState search(const Problem& problem, unsigned threads, bool prune) {
  SearchOptions options;
  options.prune = prune;
  const Engine engine(problem, options);
  SearchState state = engine.start();
  EXPECT_EQ(run_search(engine, state, threads), SearchEnd::whole);
  return state;
}

TEST(Search, EqualsEnumerationOnRandomSpaces) {
  const char* wanted = std::getenv("PLUMBLINE_RANDOM_SPACES");
  const std::uint64_t spaces = wanted == nullptr ? 3 : static_cast<std::uint64_t>(std::atoi(wanted));
  std::int64_t with_shapes = 0;
  for (std::uint64_t seed = 1; seed <= spaces; ++seed) {
    const RandomSpace random = random_space(seed);
    SCOPED_TRACE(random.text);
    const auto problem = problem_of(random);
    ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
    const Expected expected = enumerate(*problem.value, random);
    with_shapes += expected.allowed > 0 ? 1 : 0;
    const SearchState one = search(*problem.value, 1, true);
    EXPECT_THAT(one.top.best, testing::ElementsAreArray(expected.top.best));
    std::vector<FrontPoint> points = one.front.points;
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    EXPECT_THAT(points, testing::ElementsAreArray(expected.points));
    std::int64_t rejected = 0;
    for (const std::int64_t each : one.tally.rejected) rejected += each;
    EXPECT_EQ(one.tally.seen + one.tally.pruned + rejected, problem.value->shapes);
    const SearchState whole = search(*problem.value, 2, false);
    EXPECT_EQ(whole.top.best, expected.top.best);
    EXPECT_EQ(whole.tally.seen, expected.allowed);
    for (const unsigned threads : {2U, 8U}) {
      const SearchState more = search(*problem.value, threads, true);
      EXPECT_EQ(checkpoint_json(*problem.value, more).dump(), checkpoint_json(*problem.value, one).dump());
    }
  }
  EXPECT_GT(with_shapes, static_cast<std::int64_t>(spaces / 2));
}

TEST(Search, GoesOnFromACheckpointToTheSameState) {
  const auto problem = problem_of(random_space(3));
  ASSERT_TRUE(problem.ok());
  const SearchState whole = search(*problem.value, 1, true);
  const Engine engine(*problem.value, {});
  SearchState state = engine.start();
  std::string saved;
  int rounds = 0;
  run_search(engine, state, 1, [&](const SearchState& now) {
    if (++rounds == 2) saved = checkpoint_json(*problem.value, now).dump();
  });
  ASSERT_FALSE(saved.empty());
  auto resumed = parse_checkpoint(saved, "c.json", *problem.value, engine);
  ASSERT_TRUE(resumed.ok());
  EXPECT_LT(resumed.value->next, engine.order().size());
  run_search(engine, *resumed.value, 2);
  EXPECT_EQ(checkpoint_json(*problem.value, *resumed.value).dump(),
            checkpoint_json(*problem.value, whole).dump());
  const auto other = problem_of(random_space(4));
  EXPECT_FALSE(parse_checkpoint(saved, "c.json", *other.value, Engine(*other.value, {})).ok());
  EXPECT_FALSE(parse_checkpoint("{\"kind\": 3}", "c.json", *problem.value, engine).ok());
  EXPECT_FALSE(parse_checkpoint(saved.substr(0, saved.size() / 2), "c.json", *problem.value, engine).ok());
}

TEST(Search, NamesTheConflictOfAnEmptySpace) {
  std::string text = random_space(1).text;
  text.insert(text.find("[[point]]"), "wide = \"hidden_dim >= 100000\"\nnarrow = \"hidden_dim <= 100\"\n");
  auto space = parse_space(text, "space.toml");
  ASSERT_TRUE(space.ok()) << messages(space.diagnostics);
  const double widest = space.value->dimensions[0].values.back();
  const auto problem = build_problem(std::move(*space.value), {gpu(random_space(1).measured)}, {}, 1, false);
  ASSERT_TRUE(problem.ok());
  const auto conflict = find_conflict(*problem.value, 1);
  ASSERT_TRUE(conflict);
  EXPECT_TRUE(conflict->smallest);
  ASSERT_EQ(conflict->members.size(), 1U);
  ASSERT_TRUE(conflict->members[0].gives);
  // Each of the two is a conflict by itself; the later one is left.
  const bool wide = conflict->members[0].name == "wide";
  EXPECT_EQ(wide ? *conflict->members[0].gives : 100000 - widest, 100000 - widest);
}

/// Llama-3-8B and Gemma-2-2B-like shapes: the counts of a space are those of the models.
TEST(Search, CountsParametersOfKnownModels) {
  const std::string text = R"([dimensions]
hidden_dim = [4096]
[derived]
num_heads = 32
num_kv_heads = 8
head_dim = 128
ffn_dim = 14336
num_layers = 32
vocab_size = 128256
[[point]]
name = "p"
phase = "prefill"
[objective]
minimise = "p_ms"
)";
  auto space = parse_space(text, "s.toml");
  ASSERT_TRUE(space.ok()) << messages(space.diagnostics);
  const auto problem = build_problem(std::move(*space.value), {gpu(true)});
  ASSERT_TRUE(problem.ok()) << messages(problem.diagnostics);
  EXPECT_EQ(quantity_of(*problem.value, {0}, "parameters", 0), 8030261248.0);
  EXPECT_EQ(quantity_of(*problem.value, {0}, "kv_bytes_per_token", 0), 131072.0);
}

TEST(SpaceFile, RefusesWithThePlace) {
  struct Case {
    const char *text, *code;
    int line;
  };
  for (const Case& c : std::vector<Case>{
           {"", "search-field-missing", 1},
           {"[dimensions]\nhidden_dim = []\n[objective]\nminimise = "
            "\"1\"\n[[point]]\nname=\"a\"\nphase=\"prefill\"\n",
            "search-field-invalid", 2},
           {"[dimensions]\nhidden_dim = [2, 1]\n[objective]\nminimise = \"1\"\n", "search-field-invalid", 2},
           {"[dimensions]\nhidden_dim = { from = 1, to = 99999999 }\n[objective]\nminimise = \"1\"\n",
            "search-too-large", 2},
           {"[dimensions]\na = [1]\n[constraints]\nc = \"a +\"\n[objective]\nminimise = \"1\"\n",
            "search-expression", 4},
           {"[dimensions]\na = [1]\n[objektive]\nminimise = \"1\"\n", "search-field-unknown", 3},
           {"[dimensions]\na = [1]\n[derived]\na = 2\n[objective]\nminimise = "
            "\"1\"\n[[point]]\nname=\"p\"\nphase=\"decode\"\n",
            "search-name-taken", 4},
       }) {
    const auto space = parse_space(c.text, "s.toml");
    EXPECT_FALSE(space.ok()) << c.text;
    const bool found = std::any_of(
        space.diagnostics.begin(), space.diagnostics.end(),
        [&](const Diagnostic& d) { return d.code == c.code && (d.line == c.line || c.line == 1); });
    EXPECT_TRUE(found) << c.text << messages(space.diagnostics);
  }
  std::string huge = "[dimensions]\n";
  for (int i = 0; i < 5; ++i) huge += fmt::format("d{} = {{ from = 1, to = 60000 }}\n", i);
  EXPECT_THAT(messages(parse_space(huge, "s.toml").diagnostics), testing::HasSubstr("2^62"));
}

TEST(Expression, IntervalsHoldEveryValue) {
  Draw draw{5};
  for (int i = 0; i < 20000; ++i) {
    const auto op = static_cast<Op>(draw(static_cast<int>(Op::negate), static_cast<int>(Op::select)));
    std::array<Range, 3> r{};
    std::array<double, 3> x{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = static_cast<double>(draw(-6, 12)) / 2, b = static_cast<double>(draw(0, 8)) / 2;
      r[k] = {a, a + b};
      x[k] = a + b * static_cast<double>(draw(0, 4)) / 4;
    }
    const double value = apply(op, x[0], x[1], x[2]);
    const Range range = apply(op, r[0], r[1], r[2]);
    if (std::isnan(value)) continue;
    EXPECT_LE(range.low, value) << static_cast<int>(op) << " " << x[0] << " " << x[1];
    EXPECT_GE(range.high, value) << static_cast<int>(op) << " " << x[0] << " " << x[1];
  }
}

}  // namespace
}  // namespace plumbline
