// SPDX-License-Identifier: Apache-2.0
// Python files of a card: read, parsed, and found by what an import names.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plumbline/bench/syntax.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// A Python file as it was found. Without a tree, `findings` says why; an absent file has neither.
struct PythonFile {
  std::string path;
  bool absent = false;
  std::optional<SyntaxTree> tree;
  Findings findings;  ///< bench-unreadable, or `syntax_code`
  Findings warnings;  ///< bench-lone-cr, bench-coding
};

inline constexpr std::size_t kMaxPythonBytes = 16 << 20;  ///< a larger file is bench-unreadable

/// Reads and parses one file. `syntax_code` is the slug for what does not parse.
PythonFile read_python_file(const std::string& path, std::string_view syntax_code);

/// The modules of a card's folder, parsed when first asked for. Nothing outside the folder is read, also not
/// through a link; at most 64 files of 256 KiB each.
class ModuleSet {
 public:
  /// `folder` is the card's; empty: no import is followed.
  explicit ModuleSet(std::string folder);

  /// The tree of the module that `from`'s file would import under that dotted name (`level` leading dots), or
  /// nullptr when it is not in the card or does not parse. Looked for beside the file, then in the card's
  /// folder, then in its eval/.
  const SyntaxTree* find(const SyntaxTree& from, std::string_view module, std::size_t level);

 private:
  const SyntaxTree* load(const std::string& path);

  std::string folder_;     // as given, for the names of files in messages
  std::string canonical_;  // or empty: then no import is followed
  std::map<std::string, std::unique_ptr<SyntaxTree>> trees_;
};

}  // namespace plumbline
