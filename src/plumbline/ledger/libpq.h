// SPDX-License-Identifier: Apache-2.0
// The few functions of libpq that are called, found at run time: a start without a URL loads nothing of it.
#pragma once

#include <memory>

#include "plumbline/base/diagnostics.h"

namespace plumbline::ledger {

/// libpq's C interface, stable since PostgreSQL 8. The opaque types are its own.
struct Libpq {
  using Oid = unsigned int;
  void* (*connect)(const char*);
  int (*status)(const void*);
  char* (*error_message)(const void*);
  void (*finish)(void*);
  int (*server_version)(const void*);
  void* (*exec)(void*, const char*);
  void* (*prepare)(void*, const char*, const char*, int, const Oid*);
  void* (*exec_prepared)(void*, const char*, int, const char* const*, const int*, const int*, int);
  int (*result_status)(const void*);
  char* (*result_field)(const void*, int);
  int (*ntuples)(const void*);
  char* (*value)(const void*, int, int);
  int (*is_null)(const void*, int, int);
  int (*length)(const void*, int, int);
  void (*clear)(void*);
  void (*set_notice)(void*, void (*)(void*, const char*), void*);
};

inline constexpr int kPgConnectionOk = 0;
inline constexpr int kPgCommandOk = 1;
inline constexpr int kPgTuplesOk = 2;
inline constexpr int kPgSqlState = 'C';
inline constexpr int kPgPrimary = 'M';

/// libpq.so.5, loaded once. Errors: ledger-no-libpq.
Parsed<const Libpq*> load_libpq();

}  // namespace plumbline::ledger
