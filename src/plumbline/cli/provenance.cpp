// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/provenance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/json.h"

namespace plumbline::cli {
namespace {

Json files_json(const std::vector<ProvenanceFile>& files) {
  Json list = Json::array();
  for (const ProvenanceFile& file : files) {
    list.push_back(
        {{"path", file.path}, {"bytes", file.content.size()}, {"sha256", sha256_hex(file.content)}});
  }
  return list;
}

/// The words of this process's command line.
Json command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Json words = Json::array();
  for (std::size_t at = 0; at < all.size();) {
    const std::string word(all.c_str() + at);
    words.push_back(word);
    at += word.size() + 1;
  }
  return words;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Diagnostics write_provenance(const std::string& path, const std::vector<ProvenanceFile>& inputs,
                             const std::vector<ProvenanceFile>& outputs) {
  std::error_code error;
  return write_file(path, write_json({{"schema", "plumbline-provenance"},
                                      {"schema_version", 1},
                                      {"version", PLUMBLINE_VERSION},
                                      {"command", command_line()},
                                      {"time", now_utc()},
                                      {"host", host()},
                                      {"directory", std::filesystem::current_path(error).string()},
                                      {"inputs", files_json(inputs)},
                                      {"outputs", files_json(outputs)}}));
}

}  // namespace plumbline::cli
