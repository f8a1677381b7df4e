// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "plumbline/base/text.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOperators = "operators";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The folders directly under `path`, by name; empty when it cannot be listed.
std::vector<std::string> folders_of(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (is_folder(it->path())) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "operators/x/" and "." have no file name of their own.
std::string own_name(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  const fs::path& path = error ? folder : whole;
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

Card card_at(const fs::path& given) {
  fs::path folder = given.lexically_normal();
  if (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();  // "card/"
  const auto inside = [&](const char* file) { return (folder / file).string(); };
  return {own_name(folder),          folder.string(),
          inside("window.toml"),     inside("eval/bench.py"),
          inside("eval/ncu_run.py"), inside("eval/leaderboard/problem.json"),
          inside("kernel.py"),       inside("runs")};
}

Diagnostic card_missing(const std::string& card) {
  const std::vector<std::string> names = folders_of(kOperators);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto near = nearest_name(card, candidates);
  std::string hint;
  if (near) {
    hint = fmt::format("; did you mean {}?", *near);
  } else if (!names.empty() && names.size() <= 12) {
    hint = fmt::format("; operators/ has {}", fmt::join(names, ", "));
  }
  return diagnose("card-missing", fmt::format("no folder {} and no card of that name under operators/{}",
                                              in_quotes(card, 100), hint));
}

}  // namespace

Parsed<Card> find_card(const std::string& card) {
  if (!card.empty() && is_folder(card)) return {card_at(card), {}};
  const fs::path named = fs::path(kOperators) / card;
  if (!card.empty() && !fs::path(card).is_absolute() && is_folder(named)) return {card_at(named), {}};
  return failed<Card>(card_missing(card));
}

Parsed<ContractPath> find_contract(const std::string& card_or_file) {
  const Parsed<Card> card = find_card(card_or_file);
  if (card.ok()) return {ContractPath{card.value->contract, true}, {}};
  std::error_code ignored;
  const fs::file_status status = fs::status(card_or_file, ignored);
  // What looks like a file is left to the reader, whose message says what is wrong with it.
  const bool file = fs::exists(status) || card_or_file == "-" || fs::path(card_or_file).has_extension();
  if (file && !card_or_file.empty()) return {ContractPath{card_or_file, false}, {}};
  return {std::nullopt, card.diagnostics};
}

std::vector<std::string> list_runs(const Card& card) { return folders_of(card.runs); }

}  // namespace plumbline::cli
