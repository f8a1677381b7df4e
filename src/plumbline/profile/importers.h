// SPDX-License-Identifier: Apache-2.0
// The importers, one file each.
#pragma once

#include "plumbline/profile/import.h"

namespace plumbline::profile {

extern const Importer kNcuCsv;
extern const Importer kNcuText;
extern const Importer kNsysConsole;
extern const Importer kNsysCsv;
extern const Importer kNsysSqlite;
extern const Importer kNvprofCsv;
extern const Importer kProton;
extern const Importer kRocpdSqlite;
extern const Importer kRocprofCsv;
extern const Importer kTableFile;
extern const Importer kTorchTrace;
extern const Importer kXlaTrace;

}  // namespace plumbline::profile
