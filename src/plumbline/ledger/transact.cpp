// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>

#include "plumbline/ledger/connection.h"

namespace plumbline::ledger {

bool is_postgres_url(std::string_view where) {
  return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

bool transact(Connection& connection, const std::function<bool()>& body) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  for (useconds_t pause = 1000;; pause = pause < 64'000 ? pause * 2 : pause) {
    const bool done = connection.begin() && body() && connection.commit();
    if (done) return true;
    const bool again = connection.contended() && Clock::now() < deadline;
    const std::optional<Diagnostic> why = connection.failure();
    connection.rollback();
    if (!again) {
      if (why) connection.fail(*why);
      return false;
    }
    usleep(pause);
  }
}

}  // namespace plumbline::ledger
