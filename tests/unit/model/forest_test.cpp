// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/forest.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace plumbline {
namespace {

using Random = std::mt19937_64;

int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(limit));
}

/// A tree of `inner` nodes: each node is hung on a child that is still a leaf, the last one hung when
/// `chain`.
void add_tree(Forest& forest, int inner, bool chain, Random& random) {
  struct Place {
    std::size_t node;
    bool right;
  };
  std::vector<Place> open;
  const std::size_t begin = forest.nodes.size();
  for (int i = 0; i < inner; ++i) {
    const auto feature = static_cast<std::uint8_t>(below(random, static_cast<int>(forest.features())));
    const int cuts = static_cast<int>(forest.cut_begin[feature + 1u] - forest.cut_begin[feature]);
    forest.nodes.push_back({feature, static_cast<std::uint8_t>(cuts == 0 ? 0 : below(random, cuts)), 0, 0});
    if (i > 0) {
      const std::size_t at =
          chain ? open.size() - 1 : static_cast<std::size_t>(below(random, static_cast<int>(open.size())));
      const Place place = open[at];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      ForestNode& parent = forest.nodes[place.node];
      (place.right ? parent.right : parent.left) = static_cast<std::int8_t>(i);
    }
    open.push_back({begin + static_cast<std::size_t>(i), false});
    open.push_back({begin + static_cast<std::size_t>(i), true});
  }
  int leaf = 0;
  for (const Place& place : open) {
    ForestNode& parent = forest.nodes[place.node];
    (place.right ? parent.right : parent.left) = static_cast<std::int8_t>(~leaf++);
  }
  for (int i = 0; i <= inner; ++i)
    forest.leaves.push_back(static_cast<std::int16_t>(below(random, 65535) - 32767));
  forest.node_begin.push_back(static_cast<std::uint32_t>(forest.nodes.size()));
}

Forest random_forest(Random& random) {
  Forest forest;
  forest.scale = 1.0 / 1024;
  forest.base = 0.25;
  forest.cut_begin.push_back(0);
  const int features = 1 + below(random, static_cast<int>(kMaxFeatures));
  for (int f = 0; f < features; ++f) {
    constexpr std::array<int, 7> counts{0, 1, 15, 16, 17, 253, 254};
    std::set<float> cuts;
    const int wanted = counts[static_cast<std::size_t>(below(random, 7))];
    while (static_cast<int>(cuts.size()) < wanted) cuts.insert(static_cast<float>(below(random, 1000)));
    forest.cuts.insert(forest.cuts.end(), cuts.begin(), cuts.end());
    forest.cut_begin.push_back(static_cast<std::uint32_t>(forest.cuts.size()));
  }
  forest.node_begin.push_back(0);
  const int trees = below(random, 40);
  for (int t = 0; t < trees; ++t) {
    const int inner = t % 5 == 0 ? 0 : t % 7 == 0 ? kMaxLeaves - 1 : below(random, 50);
    add_tree(forest, inner, t % 3 == 0, random);
  }
  return forest;
}

std::vector<float> random_row(const Forest& forest, Random& random) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> row;
  for (std::size_t f = 0; f < forest.features(); ++f) {
    switch (below(random, 12)) {
      case 0:
        row.push_back(infinity);
        break;
      case 1:
        row.push_back(-infinity);
        break;
      case 2:
        row.push_back(std::numeric_limits<float>::quiet_NaN());
        break;
      default:
        row.push_back(static_cast<float>(below(random, 2002)) / 2);  // on a threshold, or between two
    }
  }
  return row;
}

TEST(Forest, PreparedTreesGiveTheSameNumbers) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Forest plain = random_forest(random);
    Forest prepared = plain;
    prepare(prepared);
    if (i % 2 == 0) prepare_now(prepared);  // else after the first evaluations
    ASSERT_TRUE(same_thresholds(plain, prepared));
    for (int j = 0; j < 20; ++j) {
      const std::vector<float> row = random_row(plain, random);
      QuantisedRow fast{}, slow{};
      quantise_row(prepared, row, fast);
      quantise_row(plain, row, slow);
      ASSERT_EQ(fast, slow);
      ASSERT_EQ(evaluate(prepared, row), evaluate(plain, row)) << i << " " << j;
    }
  }
}

TEST(Forest, BytesReadBackGiveTheSameNumbers) {
  Random random(11);
  for (int i = 0; i < 50; ++i) {
    const Forest forest = random_forest(random);
    std::string bytes;
    append_forest(forest, bytes);
    std::string_view rest = bytes;
    const auto back = take_forest(rest, "x.bin");
    ASSERT_TRUE(back.ok());
    EXPECT_TRUE(rest.empty());
    const std::vector<float> row = random_row(forest, random);
    EXPECT_EQ(evaluate(*back.value, row), evaluate(forest, row));
  }
}

TEST(Forest, ThresholdsOfAnotherForestAreNotWrittenAgain) {
  Random random(12);
  const Forest first = random_forest(random);
  Forest second = first;
  second.base = 7;
  for (std::int16_t& leaf : second.leaves) leaf = static_cast<std::int16_t>(leaf / 2);
  std::string whole, shared;
  append_forest(second, whole);
  append_forest(second, shared, &first);
  EXPECT_EQ(whole.size() - shared.size(), 4 * (first.cut_begin.size() + first.cuts.size()));
  std::string_view rest = shared;
  const auto back = take_forest(rest, "x.bin", &first);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(rest.empty());
  const std::vector<float> row = random_row(second, random);
  EXPECT_EQ(evaluate(*back.value, row), evaluate(second, row));
  Forest other = first;  // one threshold more than the bytes were written for
  other.cuts.push_back(other.cuts.empty() ? 1.0F : other.cuts.back());
  ++other.cut_begin.back();
  rest = shared;
  EXPECT_FALSE(take_forest(rest, "x.bin", &other).ok());
}

TEST(Forest, DamagedBytesAreRefusedOrHarmless) {
  Random random(13);
  const Forest forest = random_forest(random);
  std::string bytes;
  append_forest(forest, bytes);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = bytes;
    damaged[static_cast<std::size_t>(random() % damaged.size())] ^= static_cast<char>(1 << below(random, 8));
    if (i % 4 == 0) damaged.resize(static_cast<std::size_t>(random() % damaged.size()));
    std::string_view rest = damaged;
    const auto back = take_forest(rest, "x.bin");
    if (!back.ok()) {
      EXPECT_EQ(back.diagnostics.front().code, "residuals-invalid");
      continue;
    }
    const std::vector<float> row(back.value->features(), 500.0F);
    evaluate(*back.value, row);  // stays inside its arrays: the sanitizers watch
  }
}

}  // namespace
}  // namespace plumbline
