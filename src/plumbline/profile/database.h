// SPDX-License-Identifier: Apache-2.0
// A foreign SQLite file: opened read-only and immutable, nothing in it trusted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

struct sqlite3;
struct sqlite3_stmt;

namespace plumbline::profile {

/// Rows of one query, front to back.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement);
  ~Rows();
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;

  bool next();  ///< false at the end and after an error (see Database::error)
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;                       ///< 0 for NULL
  std::optional<std::int64_t> maybe_integer(int column) const;  ///< none for NULL and text
  std::string_view text(int column) const;                      ///< "" for NULL; valid until next()
  void restart(std::int64_t first_parameter);                   ///< runs again with this parameter

 private:
  sqlite3_stmt* statement_;
};

/// The file.
class Database {
 public:
  /// Errors: file-missing, file-unreadable, sqlite-broken.
  static Parsed<Database> open(const std::string& path);
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;

  /// Plain tables only: a view could hold anything.
  bool has_table(const std::string& name) const { return tables_.count(name) != 0; }
  const std::set<std::string>& tables() const { return tables_; }
  /// Column names of a table.
  std::set<std::string> columns(const std::string& table);
  /// None when the query does not compile (see error()).
  std::optional<Rows> query(const std::string& sql);
  /// The rows of a table, about: its largest rowid.
  std::int64_t row_count(const std::string& table);
  /// sqlite-broken when the last step failed.
  std::optional<Diagnostic> error() const;

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_;
  std::string path_;
  std::set<std::string> tables_;
};

/// Whether the file with this head is a database with a table whose name begins so.
bool sqlite_holds(std::string_view head, const std::string& path, std::string_view table);

/// How every SQLite file begins.
inline constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

}  // namespace plumbline::profile
