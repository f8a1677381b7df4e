// SPDX-License-Identifier: Apache-2.0
// The files of a new card: a scaffold, or a public board's problem. Texts in, texts out; nothing is run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// A file of a card, by its path inside the card's folder.
struct CardFile {
  std::string path;
  std::string text;
};

/// A card that is not written yet. It starts as it is.
struct NewCard {
  std::vector<CardFile> files;
  std::string student;  ///< in words: what the student is
};

/// A card that multiplies rows by a weight, both sides alike: every place that is to be changed is in it.
NewCard blank_card(std::string_view name);

/// A Python file as it was read.
struct PythonInput {
  std::string text;
  std::string file;                   ///< its path, for messages
  std::vector<std::string> siblings;  ///< names of the Python files beside it, without ".py"
};

/// A problem of KernelBench: Model, get_inputs(), get_init_inputs(), and perhaps ModelNew. `student` is
/// another file that holds ModelNew (or Model). Errors: problem-syntax, problem-not-converted.
Parsed<NewCard> card_from_module(std::string_view name, const PythonInput& problem,
                                 const std::optional<PythonInput>& student);

/// A problem that is written as a definition (JSON) and workloads (JSON lines).
struct DefinitionInput {
  std::string definition;  ///< text
  std::string file;        ///< its path, for messages
  std::optional<std::string> workloads;
  std::string workloads_file;
  std::optional<std::string> reference;  ///< a file beside it, where the definition holds none
  std::string board;                     ///< "sol-execbench" or "flashinfer-bench"
  std::string root;                      ///< where the workloads' files lie, or ""
};

/// A problem folder of SOL-ExecBench, or a definition of FlashInfer-Bench. Without workloads three are made,
/// where the definition allows that. `student` defines run(). Errors: as above, json-syntax.
Parsed<NewCard> card_from_definition(std::string_view name, const DefinitionInput& problem,
                                     const std::optional<PythonInput>& student);

}  // namespace plumbline
