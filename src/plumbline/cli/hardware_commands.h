// SPDX-License-Identifier: Apache-2.0
// The subcommands of `plumbline hardware` that have files of their own.
#pragma once

#include "plumbline/cli/command.h"

namespace plumbline::cli {

void add_hardware_calibrate(Args& hardware);
void add_hardware_check(Args& hardware);
void add_hardware_validate(Args& hardware);
void add_hardware_predict(Args& hardware);

}  // namespace plumbline::cli
