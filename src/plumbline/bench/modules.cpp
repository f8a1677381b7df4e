// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/modules.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "plumbline/base/files.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxModules = 64;
constexpr std::size_t kMaxModuleBytes = 256 << 10;

/// What Python makes of the text that a reader of the file may not see.
void text_warnings(const PythonSource& source, PythonFile& file) {
  if (source.lone_cr) {
    file.warnings.push_back(
        {diagnose("bench-lone-cr", "a carriage return by itself ends a line here", {file.path})});
  }
  if (!source.cookie.empty() && !source.cookie.starts_with("utf-8") && source.cookie != "utf8" &&
      source.cookie != "ascii" && source.cookie != "us-ascii") {
    file.warnings.push_back({diagnose(
        "bench-coding", "the file declares the encoding '" + source.cookie + "'", {file.path, 1, 1})});
  }
}

}  // namespace

PythonFile read_python_file(const std::string& path, std::string_view syntax_code) {
  PythonFile file;
  file.path = path;
  const Parsed<std::string> bytes = read_file(path, kMaxPythonBytes);
  if (!bytes.ok()) {
    const Diagnostic& reason = bytes.diagnostics.front();
    std::error_code ignored;
    const bool dangling = reason.code == "file-missing" && fs::is_symlink(path, ignored);
    file.absent = reason.code == "file-missing" && !dangling;
    if (!file.absent) {
      file.findings.push_back({diagnose(
          "bench-unreadable", dangling ? "a link to a file that is not there" : reason.message, {path})});
    }
    return file;
  }
  Parsed<PythonSource> source = decode_python(*bytes.value, path);
  if (!source.ok()) {
    file.findings.push_back({source.diagnostics.front()});
    return file;
  }
  text_warnings(*source.value, file);
  Parsed<SyntaxTree> tree = parse_python(std::move(source.value->text), path, syntax_code);
  for (Diagnostic& diagnostic : tree.diagnostics) file.findings.push_back({std::move(diagnostic)});
  file.tree = std::move(tree.value);
  return file;
}

ModuleSet::ModuleSet(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (!folder_.empty()) canonical_ = fs::canonical(folder_, error).string();
  if (error) canonical_.clear();
}

const SyntaxTree* ModuleSet::load(const std::string& path) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  if (error || !real.starts_with(canonical_ + "/")) return nullptr;
  const auto known = trees_.find(real);
  if (known != trees_.end()) return known->second.get();
  if (trees_.size() >= kMaxModules || fs::file_size(real, error) > kMaxModuleBytes || error) return nullptr;
  PythonFile file = read_python_file(path, "bench-syntax");
  auto& slot = trees_[real];
  if (file.tree) slot = std::make_unique<SyntaxTree>(std::move(*file.tree));
  return slot.get();
}

const SyntaxTree* ModuleSet::find(const SyntaxTree& from, std::string_view module, std::size_t level) {
  if (canonical_.empty() || (module.empty() && level == 0)) return nullptr;
  std::string relative(module);
  std::replace(relative.begin(), relative.end(), '.', '/');
  std::vector<fs::path> roots;
  fs::path beside = fs::path(from.file()).parent_path();
  for (std::size_t i = 1; i < level; ++i) beside /= "..";
  roots.push_back(beside);
  if (level == 0) {
    roots.emplace_back(folder_);
    roots.push_back(fs::path(folder_) / "eval");
  }
  for (const fs::path& root : roots) {
    for (const std::string& name : {relative + ".py", relative + "/__init__.py"}) {
      std::error_code error;
      const fs::path path = (root / name).lexically_normal();
      if (!fs::is_regular_file(path, error)) continue;
      if (const SyntaxTree* tree = load(path.string())) return tree;
    }
  }
  return nullptr;
}

}  // namespace plumbline
