// SPDX-License-Identifier: Apache-2.0
// The importers, one file each.
#pragma once

#include "plumbline/profile/import.h"

namespace plumbline::profile {

extern const Importer kNcuCsv;
extern const Importer kNsysCsv;
extern const Importer kNsysSqlite;
extern const Importer kTableFile;
extern const Importer kTorchTrace;

}  // namespace plumbline::profile
