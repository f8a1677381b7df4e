// SPDX-License-Identifier: Apache-2.0
// Files made from committed text when a test runs: other encodings, packed, cut, and SQLite databases.
#pragma once

#include <string>

namespace plumbline::test {

/// Writes `to`, the file `from` transformed: "utf16le", "utf16be", "utf16le_crlf", "bom", "crlf", "gzip",
/// "gzip_cut" or "cut:N" (the first N bytes).
void write_transformed(const std::string& from, const std::string& to, const std::string& transform);

/// A new database at `to` from the SQL text of `from`.
void database_from_sql(const std::string& from, const std::string& to);

}  // namespace plumbline::test
