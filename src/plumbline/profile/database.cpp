// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace plumbline::profile {
namespace {

// A hostile file can make SQLite ask for any amount; an export of ten million kernels needs a tenth of this.
constexpr sqlite3_int64 kMaxHeapBytes = 128 << 20;

/// A path as a file: URI, so that immutable=1 can be said: no lock, no journal, no write beside the file.
std::string immutable_uri(const std::string& path) {
  std::string out = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out + "?mode=ro&immutable=1";
}

}  // namespace

Rows::Rows(sqlite3_stmt* statement) : statement_(statement) {}
Rows::~Rows() { sqlite3_finalize(statement_); }
Rows::Rows(Rows&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}

bool Rows::next() { return sqlite3_step(statement_) == SQLITE_ROW; }
bool Rows::is_integer(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_INTEGER; }
std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<std::int64_t> Rows::maybe_integer(int column) const {
  return is_integer(column) ? std::optional(integer(column)) : std::nullopt;
}

std::string_view Rows::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

void Rows::restart(std::int64_t first_parameter) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, first_parameter);
}

Database::~Database() { sqlite3_close_v2(handle_); }
Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      tables_(std::move(other.tables_)) {}

Parsed<Database> Database::open(const std::string& path) {
  sqlite3_hard_heap_limit64(kMaxHeapBytes);
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(immutable_uri(path).c_str(), &handle,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path);
  if (status != SQLITE_OK) {
    return failed<Database>(
        diagnose("sqlite-broken", fmt::format("cannot be opened: {}", sqlite3_errstr(status)), {path}));
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  auto names = database.query("SELECT name FROM sqlite_master WHERE type = 'table'");
  if (names) {
    while (names->next()) database.tables_.emplace(names->text(0));
  }
  if (const auto error = database.error()) return failed<Database>(*error);
  return {std::move(database), {}};
}

bool sqlite_holds(std::string_view head, const std::string& path, std::string_view table) {
  if (!head.starts_with(kSqliteMagic)) return false;
  const auto database = Database::open(path);
  if (!database.ok()) return false;
  const auto at = database.value->tables().lower_bound(std::string(table));
  return at != database.value->tables().end() && at->starts_with(table);
}

std::set<std::string> Database::columns(const std::string& table) {
  std::set<std::string> names;
  auto rows = query(fmt::format("PRAGMA table_info(\"{}\")", table));
  while (rows && rows->next()) names.emplace(rows->text(1));
  return names;
}

std::optional<Rows> Database::query(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr);
  if (status != SQLITE_OK) return std::nullopt;
  return Rows(statement);
}

std::int64_t Database::row_count(const std::string& table) {
  auto rows = query(fmt::format("SELECT max(rowid) FROM \"{}\"", table));
  return rows && rows->next() ? rows->integer(0) : 0;
}

std::optional<Diagnostic> Database::error() const {
  const int status = sqlite3_errcode(handle_);
  if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW) return std::nullopt;
  return diagnose("sqlite-broken", fmt::format("the database cannot be read: {}", sqlite3_errmsg(handle_)),
                  {path_});
}

}  // namespace plumbline::profile
