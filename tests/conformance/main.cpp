// SPDX-License-Identifier: Apache-2.0
// plumbline_conformance KIND FILE.jsonl: runs every case of a file and says which differ.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "kind.h"

namespace plumbline::conformance {
namespace {

constexpr int kMostShown = 10;

std::map<std::string, Check, std::less<>>& kinds() {
  static std::map<std::string, Check, std::less<>> map;
  return map;
}

/// "" when the case passes. A case that cannot be read or that throws has failed.
std::string run_case(Check check, const std::string& line, std::string& id) {
  const Json test = Json::parse(line, nullptr, false);
  if (!test.is_object()) return "not a JSON object";
  id = test.value("id", "?");
  try {
    return check(test);
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

int run(const char* kind, const char* path) {
  const auto check = kinds().find(kind);
  if (check == kinds().end()) {
    std::cerr << "no kind " << kind << "; known:";
    for (const auto& entry : kinds()) std::cerr << ' ' << entry.first;
    std::cerr << '\n';
    return 2;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot read " << path << '\n';
    return 2;
  }
  int passed = 0;
  int failed = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    std::string id = "line " + std::to_string(passed + failed + 1);
    const std::string difference = run_case(check->second, line, id);
    (difference.empty() ? passed : failed) += 1;
    if (!difference.empty() && failed <= kMostShown) std::cout << id << ": " << difference << '\n';
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  if (passed + failed == 0) std::cerr << "no case in " << path << '\n';
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

Kind::Kind(std::string_view name, Check check) { kinds().emplace(name, check); }

}  // namespace plumbline::conformance

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: plumbline_conformance KIND FILE.jsonl\n";
    return 2;
  }
  return plumbline::conformance::run(argv[1], argv[2]);
}
