// SPDX-License-Identifier: Apache-2.0
// Values as they lie in memory, little-endian, for files that are read in a millisecond.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plumbline {

static_assert(std::endian::native == std::endian::little, "these files are little-endian");

/// Appends one value's bytes to `out`.
template <class T>
requires std::is_arithmetic_v<T>
void append_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Appends the values' bytes to `out`.
template <class T>
void append_raw(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Takes `count` values from the front of `bytes`; false, and nothing is taken, where there are fewer.
template <class T>
bool take_raw(std::string_view& bytes, std::size_t count, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (count > bytes.size() / sizeof(T)) return false;
  values.resize(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace plumbline
