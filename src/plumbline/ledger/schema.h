// SPDX-License-Identifier: Apache-2.0
// The tables of a ledger, by versioned migrations.
#pragma once

#include "plumbline/ledger/connection.h"

namespace plumbline::ledger {

/// The schema that this build writes.
inline constexpr int kSchemaVersion = 1;

/// The version that the database has; 0 when it holds no ledger. None with a failure on the connection.
/// ledger-foreign: it holds another program's tables.
std::optional<int> schema_version(Connection& connection);

/// Brings the tables to kSchemaVersion in one transaction, or to `target` (for tests of migrations). What is
/// already there stays. Errors: ledger-newer, ledger-foreign, and those of the connection.
Diagnostics migrate(Connection& connection, int target = kSchemaVersion);

/// ledger-newer or ledger-older (a reader that may not migrate), or nothing.
Diagnostics check_version(Connection& connection);

}  // namespace plumbline::ledger
