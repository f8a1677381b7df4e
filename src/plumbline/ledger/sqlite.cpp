// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <unordered_map>
#include <utility>

#include "plumbline/ledger/connection.h"

namespace plumbline::ledger {
namespace {

constexpr int kBusyMs = 30'000;

class SqliteRow : public RowView {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool null(int column) const override { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const override { return bytes(column); }
  std::string bytes(int column) const override {
    const void* data = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

 private:
  sqlite3_stmt* statement_;
};

class Sqlite : public Connection {
 public:
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  ~Sqlite() override {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close_v2(handle_);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  bool run(std::string_view sql, std::span<const Param> parameters, const OnRow& row) override {
    if (failure()) return false;
    sqlite3_stmt* statement = prepared(sql);
    if (statement == nullptr) return false;
    int at = 0;
    for (const Param& p : parameters) bind(statement, ++at, p);
    int status = sqlite3_step(statement);
    const SqliteRow view(statement);
    for (; status == SQLITE_ROW; status = sqlite3_step(statement)) {
      if (row) row(view);
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status == SQLITE_DONE || failed_with(status);
  }

  bool script(const std::string& sql) override {
    if (failure()) return false;
    const int status = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    return status == SQLITE_OK || failed_with(status);
  }

  // A transaction that begins as a reader may find its snapshot stale when it wants to write: this one waits.
  bool begin() override { return run("BEGIN IMMEDIATE", {}, {}); }
  bool commit() override { return run("COMMIT", {}, {}); }
  void rollback() override {
    clear();
    if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  bool is_postgres() const override { return false; }

  bool failed_with(int status) {
    const int extended = sqlite3_extended_errcode(handle_);
    fail(explain(status, extended), (status & 0xFF) == SQLITE_BUSY || (status & 0xFF) == SQLITE_LOCKED);
    return false;
  }

 private:
  Diagnostic explain(int status, int extended) const {
    const std::string words = sqlite3_errmsg(handle_);
    const Location at{path_, 0, 0};
    switch (status & 0xFF) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return diagnose("ledger-busy", "other processes held the ledger for half a minute", at);
      case SQLITE_FULL:
        return diagnose("ledger-unwritable", "the disk is full; nothing of this was banked", at);
      case SQLITE_IOERR:
        // A journal that cannot grow is the disk's end too, under another name.
        if (extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_FSYNC ||
            extended == SQLITE_IOERR_SHMSIZE || extended == SQLITE_IOERR_SHMOPEN ||
            extended == SQLITE_IOERR_SHMMAP || extended == SQLITE_IOERR_TRUNCATE) {
          return diagnose("ledger-unwritable",
                          "the disk is full or does not answer; nothing of this was banked", at);
        }
        return diagnose("ledger-broken", words, at);
      case SQLITE_READONLY:
      case SQLITE_PERM:
      case SQLITE_CANTOPEN:
        return diagnose("ledger-unwritable", "the file or its folder cannot be written", at);
      case SQLITE_NOTADB:
        return diagnose("ledger-broken", "this is not an SQLite file", at);
      default:
        return diagnose("ledger-broken", words, at);
    }
  }

  sqlite3_stmt* prepared(std::string_view sql) {
    const auto found = statements_.find(std::string(sql));
    if (found != statements_.end()) return found->second;
    sqlite3_stmt* statement = nullptr;
    const int status = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (status != SQLITE_OK) {
      failed_with(status);
      return nullptr;
    }
    statements_.emplace(sql, statement);
    return statement;
  }

  static void bind(sqlite3_stmt* statement, int at, const Param& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      sqlite3_bind_int64(statement, at, *number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      sqlite3_bind_double(statement, at, *real);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      sqlite3_bind_text64(statement, at, text->data() == nullptr ? "" : text->data(), text->size(),
                          SQLITE_STATIC, SQLITE_UTF8);
    } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
      sqlite3_bind_blob64(statement, at, bytes->data.data() == nullptr ? "" : bytes->data.data(),
                          bytes->data.size(), SQLITE_STATIC);
    } else {
      sqlite3_bind_null(statement, at);
    }
  }

  sqlite3* handle_;
  std::string path_;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

std::string uri_of(const std::string& path, std::string_view parameters) {
  std::string out = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out.append("?").append(parameters);
}

/// A WAL file needs its companions beside it: where nobody may make them, it is read as it stands.
bool folder_is_writable(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

}  // namespace

Parsed<std::unique_ptr<Connection>> open_sqlite(const std::string& path, Access access_wanted) {
  using Result = std::unique_ptr<Connection>;
  struct stat facts {};
  const bool there = stat(path.c_str(), &facts) == 0;
  if (there && !S_ISREG(facts.st_mode))
    return failed<Result>(diagnose("ledger-broken", "this is not a regular file", {path, 0, 0}));
  if (!there && access_wanted == Access::read)
    return failed<Result>(diagnose("ledger-missing", "there is no ledger here", {path, 0, 0}));
  const bool frozen = access_wanted == Access::read && !folder_is_writable(path);
  const int flags = access_wanted == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : frozen                       ? SQLITE_OPEN_READONLY
                                                   : SQLITE_OPEN_READWRITE;
  sqlite3* handle = nullptr;
  const std::string uri = uri_of(path, frozen                            ? "mode=ro&immutable=1"
                                       : access_wanted == Access::write  ? "mode=rwc"
                                       : access(path.c_str(), W_OK) == 0 ? "mode=rw"
                                                                         : "mode=ro");
  int status = sqlite3_open_v2(
      uri.c_str(), &handle, (frozen ? SQLITE_OPEN_READONLY : flags) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
      nullptr);
  auto connection = std::make_unique<Sqlite>(handle, path);
  if (status != SQLITE_OK) {
    connection->failed_with(status);
    return failed<Result>(*connection->failure());
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  connection->script("PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;");
  // The change to WAL is the one lock that the busy handler does not wait for.
  for (int tries = 0; access_wanted == Access::write && tries < 3000; ++tries) {
    if (connection->script("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;") ||
        !connection->contended()) {
      break;
    }
    connection->rollback();
    usleep(10'000);
  }
  if (connection->failure()) return failed<Result>(*connection->failure());
  return {Result(std::move(connection)), {}};
}

}  // namespace plumbline::ledger
