// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/ledger/connection.h"
#include "plumbline/ledger/libpq.h"

namespace plumbline::ledger {
namespace {

int digit(char c) { return c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0'; }

/// What bytea looks like as text: \x00ff.
std::string unhex(std::string_view text) {
  if (!text.starts_with("\\x")) return std::string(text);
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 2; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1])));
  return out;
}

class PostgresRow : public RowView {
 public:
  PostgresRow(const Libpq& pq, const void* result) : pq_(pq), result_(result) {}
  bool null(int column) const override { return pq_.is_null(result_, row, column) != 0; }
  std::int64_t integer(int column) const override { return std::strtoll(cell(column), nullptr, 10); }
  double real(int column) const override {
    return parse_double(text(column)).value_or(0);  // strtod would listen to the locale
  }
  std::string text(int column) const override {
    return {cell(column), static_cast<std::size_t>(pq_.length(result_, row, column))};
  }
  std::string bytes(int column) const override { return unhex(text(column)); }

  int row = 0;

 private:
  const char* cell(int column) const { return pq_.value(result_, row, column); }
  const Libpq& pq_;
  const void* result_;
};

class Postgres : public Connection {
 public:
  Postgres(const Libpq& pq, void* handle) : pq_(pq), handle_(handle) {}
  ~Postgres() override { pq_.finish(handle_); }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  bool run(std::string_view sql, std::span<const Param> parameters, const OnRow& row) override {
    if (failure()) return false;
    const std::string* name = prepared(sql, parameters.size());
    if (name == nullptr) return false;
    std::vector<std::string> held(parameters.size());
    std::vector<const char*> values(parameters.size());
    std::vector<int> lengths(parameters.size());
    std::vector<int> formats(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      spell(parameters[i], held[i], values[i], lengths[i], formats[i]);
    void* result = pq_.exec_prepared(handle_, name->c_str(), static_cast<int>(values.size()), values.data(),
                                     lengths.data(), formats.data(), 0);
    return finished(result, row);
  }

  bool script(const std::string& sql) override {
    return !failure() && finished(pq_.exec(handle_, sql.c_str()), {});
  }
  bool begin() override { return script("BEGIN"); }
  bool commit() override { return script("COMMIT"); }
  void rollback() override {
    clear();
    pq_.clear(pq_.exec(handle_, "ROLLBACK"));
  }
  bool is_postgres() const override { return true; }

 private:
  bool finished(void* result, const OnRow& row) {
    const int status = pq_.result_status(result);
    const bool good = status == kPgCommandOk || status == kPgTuplesOk;
    if (!good) note_failure(result);
    PostgresRow view(pq_, result);
    const int count = good && row ? pq_.ntuples(result) : 0;
    for (view.row = 0; view.row < count; ++view.row) row(view);
    pq_.clear(result);
    return good;
  }

  void note_failure(const void* result) {
    const char* state = result == nullptr ? nullptr : pq_.result_field(result, kPgSqlState);
    const char* words = result == nullptr ? nullptr : pq_.result_field(result, kPgPrimary);
    const std::string code = state == nullptr ? "" : state;
    // 40001 serialization_failure, 40P01 deadlock_detected, 55P03 lock_not_available
    if (code == "40001" || code == "40P01" || code == "55P03")
      return fail(diagnose("ledger-busy", "other writers were in the way for half a minute"), true);
    // 53100 disk_full, 25006 read_only_sql_transaction, 42501 insufficient_privilege
    const std::string reason = words == nullptr ? std::string(trim(pq_.error_message(handle_))) : words;
    if (code == "53100" || code == "25006" || code == "42501")
      return fail(diagnose("ledger-unwritable", one_line(reason) + "; nothing of this was banked"));
    if (code.empty()) return fail(diagnose("ledger-unreachable", one_line(reason)));
    fail(diagnose("ledger-broken", fmt::format("{} ({})", one_line(reason), code)));
  }

  const std::string* prepared(std::string_view sql, std::size_t parameters) {
    const auto found = statements_.find(std::string(sql));
    if (found != statements_.end()) return &found->second;
    std::string name = fmt::format("s{}", statements_.size());
    if (!finished(pq_.prepare(handle_, name.c_str(), std::string(sql).c_str(), static_cast<int>(parameters),
                              nullptr),
                  {})) {
      return nullptr;
    }
    return &statements_.emplace(sql, std::move(name)).first->second;
  }

  static void spell(const Param& value, std::string& held, const char*& at, int& length, int& format) {
    length = 0;
    format = 0;
    at = nullptr;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      held = std::to_string(*number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      held = format_double(*real);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      held = *text;
    } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
      held = bytes->data;
      length = static_cast<int>(held.size());
      format = 1;
    } else {
      return;
    }
    at = held.c_str();
  }

  const Libpq& pq_;
  void* handle_;
  std::unordered_map<std::string, std::string> statements_;
};

}  // namespace

Parsed<std::unique_ptr<Connection>> open_postgres(const std::string& url) {
  using Result = std::unique_ptr<Connection>;
  const auto pq = load_libpq();
  if (!pq.ok()) return {std::nullopt, pq.diagnostics};
  void* handle = (*pq.value)->connect(url.c_str());
  auto connection = std::make_unique<Postgres>(**pq.value, handle);
  if ((*pq.value)->status(handle) != kPgConnectionOk) {
    // The message of libpq names host and database, never the password.
    return failed<Result>(diagnose("ledger-unreachable", one_line(trim((*pq.value)->error_message(handle)))));
  }
  (*pq.value)->set_notice(
      handle, [](void*, const char*) {}, nullptr);
  connection->script("SET client_encoding = 'UTF8'; SET extra_float_digits = 1; SET lock_timeout = '30s'");
  if (connection->failure()) return failed<Result>(*connection->failure());
  return {Result(std::move(connection)), {}};
}

}  // namespace plumbline::ledger
