// SPDX-License-Identifier: Apache-2.0
// Private to the readers of hardware files: one TOML table, with the keys that were asked for and what is
// wrong.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/toml.h"
#include "plumbline/model/accuracy.h"

namespace plumbline {

/// One table being read. A value that is missing or wrong gives a diagnostic and a stand-in, so that every
/// error of a file is found in one reading. Codes: hardware-field-missing, -invalid, -unknown.
struct TableReader {
  const toml::table& table;
  std::string name;  ///< "[sheet]"; "" for the document
  const std::string& file;
  Diagnostics& found;
  std::vector<std::string_view> known{};

  const toml::node* get(std::string_view key, bool required = true);
  void invalid(std::string_view key, const toml::node& node, std::string_view want);
  /// A text; one that is not empty where `filled`.
  std::string text(std::string_view key, bool filled = false);
  /// A number over 0 and at most 1e9.
  void rate(std::string_view key, double& target);
  /// An integer from 1 to 2^50.
  void size(std::string_view key, std::int64_t& target);
  /// A finite number; `absent` where the key may be missing.
  double number(std::string_view key, std::optional<double> absent = std::nullopt);
  /// A count from 0; 0 where it is missing.
  std::int64_t count(std::string_view key);
  bool yes(std::string_view key);
  std::array<double, 3> triple(std::string_view key);
  std::vector<std::string> texts(std::string_view key, std::size_t most);
  /// A table of numbers; empty where it is missing.
  std::map<std::string, double> numbers(std::string_view key);
  /// Figures of accuracy; none where the table is missing.
  Accuracy accuracy(std::string_view key);
  /// A table of this one, called `title` in messages.
  std::optional<TableReader> sub(std::string_view key, std::string title, bool required);
  void refuse_unknown();

 private:
  std::string where(std::string_view key) const;
};

}  // namespace plumbline
