// SPDX-License-Identifier: Apache-2.0
// One SQL dialect for SQLite and PostgreSQL: statements with $1, $2, … and rows by a callback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "plumbline/base/diagnostics.h"

namespace plumbline::ledger {

/// A parameter that is bytes, not text.
struct Bytes {
  std::string_view data;
};

/// A parameter; the views must outlive the call.
using Param = std::variant<std::monostate, std::int64_t, double, std::string_view, Bytes>;

/// NULL, or the value.
inline Param maybe(const std::optional<double>& value) {
  return value ? Param(*value) : Param(std::monostate{});
}
/// NULL, or the value.
inline Param maybe(const std::optional<std::int64_t>& value) {
  return value ? Param(*value) : Param(std::monostate{});
}

/// One row of an answer, valid during the callback. Columns count from 0.
class RowView {
 public:
  virtual ~RowView() = default;
  virtual bool null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;  ///< 0 for NULL
  virtual double real(int column) const = 0;           ///< 0 for NULL
  virtual std::string text(int column) const = 0;      ///< "" for NULL
  virtual std::string bytes(int column) const = 0;     ///< "" for NULL

  /// None for NULL.
  std::optional<double> maybe_real(int column) const {
    return null(column) ? std::nullopt : std::optional(real(column));
  }
  /// None for NULL.
  std::optional<std::int64_t> maybe_integer(int column) const {
    return null(column) ? std::nullopt : std::optional(integer(column));
  }
};

using OnRow = std::function<void(const RowView&)>;

/// A database. The first failure stays: what follows does nothing until rollback(), so that a sequence of
/// statements is checked once, at its end.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Runs one statement. False on a failure, this one's or an earlier one.
  virtual bool run(std::string_view sql, std::span<const Param> parameters = {}, const OnRow& row = {}) = 0;
  bool run(std::string_view sql, std::initializer_list<Param> parameters, const OnRow& row = {}) {
    return run(sql, std::span<const Param>(parameters.begin(), parameters.size()), row);
  }
  /// Runs several statements without parameters.
  virtual bool script(const std::string& sql) = 0;
  /// Starts a transaction that will write, waiting for its turn.
  virtual bool begin() = 0;
  virtual bool commit() = 0;
  virtual void rollback() = 0;  ///< clears the failure too
  virtual bool is_postgres() const = 0;

  const std::optional<Diagnostic>& failure() const { return failure_; }
  bool contended() const { return contended_; }  ///< the failure was another writer's: try again
  void fail(Diagnostic diagnostic, bool contended = false) {
    if (failure_) return;
    failure_ = std::move(diagnostic);
    contended_ = contended;
  }

 protected:
  void clear() {
    failure_.reset();
    contended_ = false;
  }

 private:
  std::optional<Diagnostic> failure_;
  bool contended_ = false;
};

/// What may be done with the database.
enum class Access { read, write };

/// An SQLite file in WAL mode; with Access::write it is made where there is none.
/// Errors: ledger-missing, ledger-broken, ledger-unwritable, ledger-busy.
Parsed<std::unique_ptr<Connection>> open_sqlite(const std::string& path, Access access);

/// A PostgreSQL database by URL (postgresql://…), through libpq, which is loaded here and nowhere else.
/// Errors: ledger-no-libpq, ledger-unreachable.
Parsed<std::unique_ptr<Connection>> open_postgres(const std::string& url);

/// Is it a URL of PostgreSQL?
bool is_postgres_url(std::string_view where);

/// Runs `body` in a transaction, anew while other writers are in the way, for half a minute. False when it
/// did not commit; then failure() says why.
bool transact(Connection& connection, const std::function<bool()>& body);

}  // namespace plumbline::ledger
