// SPDX-License-Identifier: Apache-2.0
// The subcommands of `plumbline hardware` that have files of their own.
#pragma once

#include <string>
#include <vector>

#include "plumbline/cli/command.h"

namespace plumbline::cli {

void add_hardware_calibrate(Args& hardware);
void add_hardware_check(Args& hardware);
void add_hardware_validate(Args& hardware);
void add_hardware_predict(Args& hardware);
void add_hardware_submit(Args& hardware);

/// Whether tables of rows can be believed: what `hardware check` prints, and its exit status. `hardware`: the
/// GPU they were measured on; "" where the file says it.
int check_tables(const Io& io, const std::vector<std::string>& files, const std::string& hardware);

}  // namespace plumbline::cli
