// SPDX-License-Identifier: Apache-2.0
// An operator card on disk: which files it has and where. Shared by every command that takes CARD.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline::cli {

/// The paths of a card. None needs to exist except `folder`.
struct Card {
  std::string name;  ///< the folder's own name
  std::string folder;
  std::string contract;  ///< window.toml
  std::string bench;     ///< eval/bench.py
  std::string ncu_run;   ///< eval/ncu_run.py
  std::string problem;   ///< eval/leaderboard/problem.json
  std::string kernel;    ///< kernel.py
  std::string runs;      ///< runs
};

/// CARD as a command takes it: a folder, or a name under operators/ of the current directory.
/// Errors: card-missing, naming the nearest card.
Parsed<Card> find_card(const std::string& card);

/// CARD|FILE: the path of a window.toml, that of a card (which need not have one: `of_card` says so) or a
/// file's own.
struct ContractPath {
  std::string path;
  bool of_card = false;
};
/// Errors: card-missing, where `card_or_file` is neither a file nor a card.
Parsed<ContractPath> find_contract(const std::string& card_or_file);

/// The recorded runs of a card (folders under runs/), sorted by name.
std::vector<std::string> list_runs(const Card& card);

}  // namespace plumbline::cli
