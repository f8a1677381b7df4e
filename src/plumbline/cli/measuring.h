// SPDX-License-Identifier: Apache-2.0
// A card measured: its bench run in a child, both sides' kernels recorded, the run folder kept. What `run`
// and `iterate` share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/cli/card.h"
#include "plumbline/cli/command.h"
#include "plumbline/cli/process.h"
#include "plumbline/contract/contract.h"

namespace plumbline::cli {

/// How it is measured.
struct MeasureOptions {
  std::string python = "python3";
  double limit_s = 900;  ///< of the bench, and of each recording
  bool no_record = false;
  std::optional<ProcessLimits> limits;
};

/// What came of it, and what the run folder is to hold.
struct Measured {
  std::string folder;
  ProcessEnd end;
  /// Whose turn it was when the bench ended, in the bench's own word: "student", "student here" (in the
  /// bench's own process), "reference", "waiting" (for the GPU), "harness", "failed CODE"; "" where it does
  /// not say.
  std::string phase;
  Json eval;
  std::vector<std::string> tables;
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text
};

/// "20261130-204205", UTC: only the command line may read the clock.
std::string default_run_name();

/// What a Python child needs to find the package of this build or installation.
std::vector<std::pair<std::string, std::string>> package_environment();

/// Why nothing can be measured here, or nothing. The fake device of the tests needs no GPU.
Diagnostics measuring_trouble();

/// The folder of a run that is to be made. Errors: usage, run-exists, file-unwritable.
Parsed<std::string> new_run_folder(const Card& card, const std::string& name);

/// Runs the bench; fills all but `folder` and `tables`. Errors: record-time-limit, run-no-eval, json-syntax.
Diagnostics measure(const MeasureOptions& options, const Card& card,
                    const std::optional<WindowContract>& contract, Measured& measured);

/// Records both sides where the card has a launch script; what fails is a warning, the readings stand.
void record_tables(const Io& io, const MeasureOptions& options, const Card& card, Measured& measured);

/// Writes the run folder whole or not at all: beside its place and renamed there, by a process that no signal
/// to this one reaches.
Diagnostics keep_run(const Measured& measured);

}  // namespace plumbline::cli
