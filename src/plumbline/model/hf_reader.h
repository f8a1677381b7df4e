// SPDX-License-Identifier: Apache-2.0
// Private to hf_config.cpp: fields of a config.json, each with its place.
#pragma once

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
  std::string_view text;  ///< the whole document
  std::size_t begin = 0;  ///< offset at which `config` starts in `text`
  const std::string& file;
  Diagnostics found{};

  /// A field's name and its older spellings.
  struct Names {
    std::string_view first;
    std::string_view second{};
    std::string_view third{};
  };

  /// The value of the first name that is present and not null.
  const Json* get(const Names& names, std::string_view* used = nullptr) const;
  /// Where the key stands.
  Location at(std::string_view key) const;
  void wrong(std::string_view code, std::string message, std::string_view key);

  /// An integer in 1..max; absent gives none. A wrong value gives an error and none.
  std::optional<std::int64_t> count(const Names& names, std::int64_t max);
  /// The same, and absent is an error (hf-field-missing).
  std::optional<std::int64_t> need_count(const Names& names, std::int64_t max);
  /// One value a layer: an integer for all, or a list of `layers` integers. Empty when absent or wrong.
  std::vector<std::int64_t> per_layer(const Names& names, std::size_t layers, std::int64_t max);
  /// A boolean, or `otherwise` when absent.
  bool flag(const Names& names, bool otherwise);
};

}  // namespace plumbline
