// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/ranks.h"

#include <cstring>
#include <type_traits>

namespace plumbline {
namespace {

template <class Value>
void put(std::string& out, const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
void put_all(std::string& out, const std::vector<Value>& values) {
  put(out, values.size());
  for (const Value& each : values) put(out, each);
}

/// Bytes read in order; `good` turns false where they end too early.
struct Source {
  const std::string& bytes;
  std::size_t at = 0;
  bool good = true;

  template <class Value>
  void get(Value& value) {
    good = good && bytes.size() - at >= sizeof value;
    if (!good) return;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
  }
  template <class Value>
  void get_all(std::vector<Value>& values) {
    std::size_t count = 0;
    get(count);
    good = good && count <= (bytes.size() - at) / sizeof(Value);
    if (!good) return;
    values.resize(count);
    for (Value& each : values) get(each);
  }
};

}  // namespace

std::string pack_results(const std::vector<SlabResult>& results, const SearchRanks& ranks, bool stopped) {
  std::string out;
  put(out, stopped);
  if (stopped) return out;
  const auto step = static_cast<std::size_t>(ranks.size);
  for (std::size_t i = static_cast<std::size_t>(ranks.rank); i < results.size(); i += step) {
    put(out, results[i].fate);
    put(out, results[i].uncovered);
    put(out, results[i].tally.seen);
    put(out, results[i].tally.pruned);
    put_all(out, results[i].tally.rejected);
    put_all(out, results[i].top.best);
    put_all(out, results[i].front.points);
  }
  return out;
}

bool says_stopped(const std::string& bytes) { return bytes.size() == sizeof(bool) && bytes[0] != 0; }

bool unpack_results(const std::string& bytes, int rank, int size, std::vector<SlabResult>& results) {
  Source source{bytes};
  bool stopped = false;
  source.get(stopped);
  if (stopped) return false;
  for (std::size_t i = static_cast<std::size_t>(rank); i < results.size();
       i += static_cast<std::size_t>(size)) {
    SlabResult& result = results[i];
    source.get(result.fate);
    source.get(result.uncovered);
    source.get(result.tally.seen);
    source.get(result.tally.pruned);
    source.get_all(result.tally.rejected);
    source.get_all(result.top.best);
    source.get_all(result.front.points);
  }
  return source.good && source.at == bytes.size();
}

}  // namespace plumbline
