// SPDX-License-Identifier: Apache-2.0
// SpaceReader: tables of a space file, with a place for everything that is wrong. Not installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/toml.h"
#include "plumbline/search/space.h"

namespace plumbline {

/// Letters, digits and underscores, no digit first; at most 60.
bool is_identifier(std::string_view name);
/// A number or a truth (1 or 0), finite and at most 2^53 in size.
std::optional<double> space_value(const toml::node& node);
/// Entries of a table in the order of the file, not of the alphabet: the first dimension is the outermost.
std::vector<std::pair<std::string_view, const toml::node*>> in_file_order(const toml::table& table);

/// One table being read: the keys that were asked for, and what is wrong.
class SpaceReader {
 public:
  SpaceReader(const toml::table& table, std::string where, const std::string& file, Diagnostics& found)
      : table_(table), where_(std::move(where)), file_(file), found_(found) {}
  const toml::node* get(std::string_view key);
  void wrong(std::string_view code, const toml::node& node, std::string message) {
    found_.push_back(diagnose(code, std::move(message), location_of(node.source(), file_)));
  }
  void invalid(std::string_view key, const toml::node& node, std::string_view want) {
    wrong("search-field-invalid", node, fmt::format("{} must be {}", path(key), want));
  }
  void missing(std::string_view key);
  std::string path(std::string_view key) const {
    return where_.empty() ? std::string(key) : fmt::format("{} {}", where_, key);
  }
  std::string text(std::string_view key, bool required = false);
  double number(std::string_view key, double fallback, double low, double high);
  std::int64_t count(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  const toml::table* sub(std::string_view key);
  /// The tables of an array [[key]].
  std::vector<const toml::table*> tables(std::string_view key);
  /// An expression, or a number as one.
  std::optional<Expression> expression(const toml::node& node, std::string_view key);
  void refuse_unknown();
  const toml::table& table() const { return table_; }
  const std::string& file() const { return file_; }
  Diagnostics& found() { return found_; }

 private:
  const toml::table& table_;
  std::string where_;
  const std::string& file_;
  Diagnostics& found_;
  std::vector<std::string_view> known_;
};

/// A dimension, a constraint, a relation, added to `space`.
void read_dimension(SpaceReader& reader, std::string_view key, const toml::node& node, Space& space);
void read_constraint(SpaceReader& reader, std::string_view key, const toml::node& node, Space& space);
void read_relation(SpaceReader reader, Space& space);

}  // namespace plumbline
