// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "plumbline/base/raw_bytes.h"

namespace plumbline {
namespace {

bool offsets_ascend(const std::vector<std::uint32_t>& offsets, std::size_t end) {
  return !offsets.empty() && offsets.front() == 0 && offsets.back() == end &&
         std::is_sorted(offsets.begin(), offsets.end());
}

/// Children point forward (so that a walk ends), stay inside their tree, and have one parent each. Counted,
/// not decided node by node: which child is a leaf cannot be guessed, and loading a file asks it often.
bool tree_is_sound(const Forest& forest, std::size_t tree) {
  const std::size_t begin = forest.node_begin[tree];
  const auto count = static_cast<int>(forest.node_begin[tree + 1] - begin);
  if (count >= kMaxLeaves) return false;
  const auto features = static_cast<int>(forest.features());
  std::array<std::uint8_t, 2 * kMaxLeaves> parents{};  // leaves first
  bool sound = true;
  for (int i = 0; i < count; ++i) {
    const ForestNode& node = forest.nodes[begin + static_cast<std::size_t>(i)];
    sound &= node.feature < features;
    for (const int child : {int{node.left}, int{node.right}}) {
      sound &= (child > i) | (child < 0);
      sound &= (child < count) & (~child <= count);
      sound &= ++parents[static_cast<std::size_t>(kMaxLeaves + child)] == 1;
    }
  }
  return sound;
}

bool is_sound(const Forest& forest) {
  if (forest.features() > kMaxFeatures || !std::isfinite(forest.scale) || !std::isfinite(forest.base))
    return false;
  if (!offsets_ascend(forest.cut_begin, forest.cuts.size())) return false;
  if (!offsets_ascend(forest.node_begin, forest.nodes.size())) return false;
  for (std::size_t f = 0; f < forest.features(); ++f) {
    if (forest.cut_begin[f + 1] - forest.cut_begin[f] > kMaxCuts) return false;
    const auto* first = forest.cuts.data() + forest.cut_begin[f];
    const auto* last = forest.cuts.data() + forest.cut_begin[f + 1];
    if (!std::is_sorted(first, last) || std::any_of(first, last, [](float c) { return !std::isfinite(c); }))
      return false;
  }
  for (std::size_t t = 0; t < forest.trees(); ++t) {
    if (!tree_is_sound(forest, t)) return false;
  }
  return true;
}

/// The thresholds from `bytes`, or those of `like`; false when there are not as many as there should be.
bool take_thresholds(std::string_view& bytes, std::size_t features, std::size_t cuts, const Forest* like,
                     Forest& forest) {
  if (like == nullptr)
    return take_raw(bytes, features + 1, forest.cut_begin) && take_raw(bytes, cuts, forest.cuts);
  if (like->features() != features || like->cuts.size() != cuts) return false;
  forest.cut_begin = like->cut_begin;
  forest.cuts = like->cuts;
  return true;
}

}  // namespace

void append_forest(const Forest& forest, std::string& out, const Forest* like) {
  const std::array<std::uint32_t, 4> head{
      static_cast<std::uint32_t>(forest.features()), static_cast<std::uint32_t>(forest.cuts.size()),
      static_cast<std::uint32_t>(forest.trees()), static_cast<std::uint32_t>(forest.nodes.size())};
  out.append(reinterpret_cast<const char*>(head.data()), sizeof(head));
  const std::array<double, 2> numbers{forest.scale, forest.base};
  out.append(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
  if (forest.features() == 0) return;
  if (like == nullptr) {
    append_raw(out, forest.cut_begin);
    append_raw(out, forest.cuts);
  }
  append_raw(out, forest.node_begin);
  append_raw(out, forest.nodes);
  append_raw(out, forest.leaves);
}

Parsed<Forest> take_forest(std::string_view& bytes, const std::string& file, const Forest* like) {
  const auto bad = [&] {
    return failed<Forest>(
        diagnose("residuals-invalid", "the residual trees are damaged or cut short", {file, 0, 0}));
  };
  std::array<std::uint32_t, 4> head{};
  std::array<double, 2> numbers{};
  if (bytes.size() < sizeof(head) + sizeof(numbers)) return bad();
  std::memcpy(head.data(), bytes.data(), sizeof(head));
  std::memcpy(numbers.data(), bytes.data() + sizeof(head), sizeof(numbers));
  bytes.remove_prefix(sizeof(head) + sizeof(numbers));
  Forest forest;
  forest.scale = numbers[0];
  forest.base = numbers[1];
  const auto [features, cuts, trees, nodes] = head;
  if (features == 0) {
    if (!std::isfinite(forest.base) || !std::isfinite(forest.scale)) return bad();
    return {std::move(forest), {}};
  }
  if (features > kMaxFeatures || !take_thresholds(bytes, features, cuts, like, forest) ||
      !take_raw(bytes, std::size_t{trees} + 1, forest.node_begin) || !take_raw(bytes, nodes, forest.nodes) ||
      !take_raw(bytes, std::size_t{nodes} + trees, forest.leaves) || !is_sound(forest)) {
    return bad();
  }
  return {std::move(forest), {}};
}

}  // namespace plumbline
