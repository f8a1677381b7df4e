// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/commands.h"

int main(int argc, char** argv) {
  return plumbline::cli::run_command_line(argc, argv, plumbline::cli::add_all_commands);
}
