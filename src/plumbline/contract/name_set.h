// SPDX-License-Identifier: Apache-2.0
// A set of names that is quick for the handful that a contract has and linear for ten thousand.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "plumbline/contract/contract.h"

namespace plumbline {

/// Names by view: whatever they point into must outlive the set.
class NameSet {
 public:
  NameSet() = default;
  explicit NameSet(const std::vector<Field>& names) {
    few_.reserve(std::min(names.size(), kFew));
    for (const Field& name : names) insert(name.text);
  }

  bool has(std::string_view name) const {
    return many_.empty() ? std::find(few_.begin(), few_.end(), name) != few_.end() : many_.contains(name);
  }

  /// False when it is there already.
  bool insert(std::string_view name) {
    if (has(name)) return false;
    if (many_.empty() && few_.size() < kFew) {
      few_.push_back(name);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(name).second;
  }

 private:
  static constexpr std::size_t kFew = 24;  // below it a scan is quicker than hashing
  std::vector<std::string_view> few_;
  std::unordered_set<std::string_view> many_;  // in use once few_ is full
};

/// The entries seen so far, by kind and name.
class EntrySet {
 public:
  bool insert(const Asymmetry& entry) { return set(entry.kind).insert(entry.name.text); }
  bool has(EntryKind kind, std::string_view name) const {
    return sets_[static_cast<std::size_t>(kind)].has(name);
  }

 private:
  NameSet& set(EntryKind kind) { return sets_[static_cast<std::size_t>(kind)]; }
  std::array<NameSet, 4> sets_;
};

}  // namespace plumbline
