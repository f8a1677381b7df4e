// SPDX-License-Identifier: Apache-2.0
// KernelMemory: kernels that were predicted lately, for rankings that meet the same ones again and again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "plumbline/model/prediction.h"

namespace plumbline {

/// What tells two kernels apart: the source's id, then the shape's numbers and which kind of shape it is.
using KernelKey = std::array<std::int64_t, 9>;

/// A bounded memory of predictions: 4-way sets, the oldest of a set goes. It neither grows nor, after it was
/// made, allocates. The caller owns it, one for each thread; it may serve several sources.
class KernelMemory {
 public:
  KernelMemory()
      : entries_(static_cast<Entry*>(std::calloc(kSets * kWays, sizeof(Entry)))),
        tags_(kSets),
        oldest_(kSets) {
    if (entries_ == nullptr) throw std::bad_alloc();
  }

  /// The prediction of `key`: remembered, else predict()'s. `place` (below kPlaces) says which kernel of a
  /// layer is meant: neighbours in a search share most of them, so the last answer of a place is tried first.
  template <class Predict>
  const KernelTime& get(std::size_t place, const KernelKey& key, Predict predict) {
    const Entry& last = entries_[last_[place]];
    if (last.key == key) return last.time;
    const std::uint64_t hash = hash_of(key);
    const std::size_t set = hash % kSets;
    const auto tag = static_cast<std::uint32_t>(hash >> 32) | 1U;  // 0 marks an empty place
    for (std::size_t way = 0; way < kWays; ++way) {
      const std::size_t at = set * kWays + way;
      if (tags_[set][way] == tag && entries_[at].key == key) return found(place, at);
    }
    const std::size_t way = oldest_[set]++ % kWays;
    const std::size_t at = set * kWays + way;
    entries_[at] = {key, predict()};
    tags_[set][way] = tag;
    return found(place, at);
  }

  static constexpr std::size_t kPlaces = 16;  ///< four GEMMs, two attention kernels, and requests

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 1024;

  struct Entry {
    KernelKey key;  ///< zeros: no source has the id 0
    KernelTime time;
  };
  static_assert(std::is_trivially_copyable_v<Entry> && std::is_aggregate_v<Entry>);

  const KernelTime& found(std::size_t place, std::size_t at) {
    last_[place] = at;
    return entries_[at].time;
  }

  /// Products that do not wait for each other; then mixed, so that every bit reaches the set and the tag.
  static std::uint64_t hash_of(const KernelKey& key) {
    constexpr std::array<std::uint64_t, 9> odd{0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB,
                                               0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB,
                                               0x8EBC6AF09C88C6E3, 0x589965CC75374CC3, 0x1D8E4E27C47D124F};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < key.size(); ++i) sum += static_cast<std::uint64_t>(key[i]) * odd[i];
    sum ^= sum >> 32;
    sum *= 0xE9846AF9B1A615DULL;
    return sum ^ sum >> 28;
  }

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  /// Zeroed by the system when first touched: a short command predicts six kernels and pays for six.
  std::unique_ptr<Entry[], Free> entries_;
  std::vector<std::array<std::uint32_t, kWays>> tags_;
  std::vector<std::uint8_t> oldest_;
  std::array<std::size_t, kPlaces> last_{};
};

}  // namespace plumbline
