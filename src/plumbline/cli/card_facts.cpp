// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/card_facts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/text.h"
#include "plumbline/bench/workload_names.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 64;
constexpr std::size_t kMostSiblings = 1000;

/// A path that stays inside the card.
bool inside(const std::string& path) {
  const fs::path p(path);
  return !path.empty() && !p.is_absolute() && std::find(p.begin(), p.end(), fs::path("..")) == p.end();
}

std::string hash_now(const fs::path& path) {
  const Parsed<std::string> content = read_file(path.string());
  return content.ok() ? sha256_hex(*content.value) : std::string();
}

std::vector<std::string> cards_beside(const Card& card) {
  std::vector<std::string> out;
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(card.folder, error);
  for (fs::directory_iterator it(folder.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (out.size() < kMostSiblings && fs::exists(it->path() / "window.toml", ignored))
      out.push_back(it->path().filename().string());
  }
  return out;
}

/// "nvidia a100-sxm4-80gb" → {"nvidia", "a100", "sxm4", "80gb"}.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool part = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (part) {
      words.back() += lower;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

CardFacts card_facts(const Card& card, const EvalReport& eval) {
  CardFacts facts;
  facts.name = card.name;
  const std::string named = eval.origin && !eval.origin->card.empty() ? eval.origin->card : eval.op;
  if (named != card.name) facts.siblings = cards_beside(card);
  if (eval.origin) {
    for (const auto& [path, hash] : eval.origin->files) {
      if (facts.files.size() < kMostFiles && inside(path))
        facts.files[path] = hash_now(fs::path(card.folder) / path);
    }
  }
  facts.workloads = spelled_workloads(card.bench);
  return facts;
}

std::optional<GpuFacts> gpu_facts(const std::string& device) {
  const std::vector<std::string> words = words_of(device);
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const auto directories = hardware_search_path();
  for (const std::string& name : hardware_names(directories)) {
    if (!has(name)) continue;
    const Parsed<std::string> path = find_hardware_file(name, directories);
    if (!path.ok()) continue;
    const Parsed<std::string> text = read_text_file(*path.value);
    if (!text.ok()) continue;
    // The kernel sources below the data sheet are for predictions and take longer to read than all the rest.
    const std::string sheet = text.value->substr(0, text.value->find("\n[[source"));
    const Parsed<Hardware> hardware = parse_hardware(sheet + "\n", *path.value);
    if (!hardware.ok()) continue;
    const std::vector<std::string> product = words_of(hardware.value->sheet.product);
    // Another board of the same chip has another memory: the H100 NVL is quicker than the SXM5.
    if (has("nvl") && std::find(product.begin(), product.end(), "nvl") == product.end()) continue;
    return GpuFacts{hardware.value->sheet.product, hardware.value->sheet.hbm_bandwidth_gbps,
                    hardware.value->sheet.l2_bytes};
  }
  return {};
}

}  // namespace plumbline::cli
