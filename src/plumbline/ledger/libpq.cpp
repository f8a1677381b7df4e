// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/libpq.h"

#include <dlfcn.h>

#include <string>

namespace plumbline::ledger {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  return into != nullptr;
}

bool load(Libpq& pq) {
  void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  return find(library, "PQconnectdb", pq.connect) && find(library, "PQstatus", pq.status) &&
         find(library, "PQerrorMessage", pq.error_message) && find(library, "PQfinish", pq.finish) &&
         find(library, "PQserverVersion", pq.server_version) && find(library, "PQexec", pq.exec) &&
         find(library, "PQprepare", pq.prepare) && find(library, "PQexecPrepared", pq.exec_prepared) &&
         find(library, "PQresultStatus", pq.result_status) &&
         find(library, "PQresultErrorField", pq.result_field) && find(library, "PQntuples", pq.ntuples) &&
         find(library, "PQgetvalue", pq.value) && find(library, "PQgetisnull", pq.is_null) &&
         find(library, "PQgetlength", pq.length) && find(library, "PQclear", pq.clear) &&
         find(library, "PQsetNoticeProcessor", pq.set_notice);
}

}  // namespace

Parsed<const Libpq*> load_libpq() {
  static Libpq functions;
  static const bool loaded = load(functions);
  if (loaded) return {&functions, {}};
  return failed<const Libpq*>(
      diagnose("ledger-no-libpq", "libpq.so.5, which speaks to PostgreSQL, is not on this machine"));
}

}  // namespace plumbline::ledger
