// SPDX-License-Identifier: Apache-2.0
// Private to the hf_*.cpp files: fields of a config.json, each with its place.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"

namespace plumbline {

/// The object that describes the decoder, and what is wrong with it so far.
struct HfReader {
  const Json& config;
  const Json& root;       ///< the whole document; `config` itself when nothing is nested
  std::string_view text;  ///< the whole document
  std::string nested;     ///< the JSON pointer of `config` in `root`; "" when nothing is nested
  const std::string& file;
  Diagnostics found{};

  /// A field's spellings; one with a dot is a member of a member.
  struct Names {
    std::array<std::string_view, 8> all{};
    std::size_t size = 0;
    template <std::convertible_to<std::string_view>... Name>
    constexpr Names(const Name&... name) : all{std::string_view(name)...}, size(sizeof...(name)) {}
    constexpr const std::string_view* begin() const { return all.data(); }
    constexpr const std::string_view* end() const { return all.data() + size; }
  };

  /// The value of the first name that is present and not null.
  const Json* get(Names names, std::string_view* used = nullptr) const;
  /// Where the value of the key stands; where it is absent, the object that would hold it.
  Location at(std::string_view key) const;
  void wrong(std::string_view code, std::string message, std::string_view key);

  /// An integer in least..max; absent gives none. A wrong value gives an error and none.
  std::optional<std::int64_t> count(Names names, std::int64_t max, std::int64_t least = 1);
  /// The same, and absent is an error (hf-field-missing) unless `otherwise` is positive.
  std::optional<std::int64_t> need_count(Names names, std::int64_t max, std::int64_t otherwise = 0);
  /// One value a layer: an integer for all, or a list of `layers` integers. Empty when absent or wrong.
  std::vector<std::int64_t> per_layer(Names names, std::size_t layers, std::int64_t max,
                                      std::int64_t least = 1);
  /// Spellings of one thing that say different numbers are an error: none of them is the right one.
  void agree(Names names);
  /// A boolean, or `otherwise` when absent.
  bool flag(Names names, bool otherwise);
  /// A string, or "" when absent or something else.
  std::string word(std::string_view name) const;
};

}  // namespace plumbline
