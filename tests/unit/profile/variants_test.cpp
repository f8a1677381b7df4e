// SPDX-License-Identifier: Apache-2.0
// tests/profile/variants: small files, each with one trap, and what each must give (expectations.json).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plumbline/profile/import.h"
#include "tests/unit/profile/transform.h"

namespace plumbline {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kVariants = std::string(PLUMBLINE_SOURCE_DIR) + "/tests/profile/variants/";

json expectations() {
  std::ifstream file(kVariants + "expectations.json");
  return json::parse(file);
}

ImportOptions options_of(const json& expected) {
  ImportOptions options;
  const json given = expected.value("options", json::object());
  options.format = given.value("format", "");
  options.range = given.value("range", "");
  options.ranks = given.value("ranks", false);
  if (given.contains("calls")) options.calls = given["calls"].get<std::int64_t>();
  if (given.contains("device")) options.device = given["device"].get<std::int64_t>();
  if (given.contains("process")) options.process = given["process"].get<std::int64_t>();
  return options;
}

/// The file as the variant asks for it: as it stands, or transformed into a scratch file.
std::string file_of(const json& expected, const std::string& scratch) {
  const std::string name = expected["file"];
  const std::string transform = expected.value("transform", "");
  std::string path = kVariants + name;
  if (name.ends_with(".sql")) {
    test::database_from_sql(path, scratch + ".sqlite");
    path = scratch + ".sqlite";
  }
  if (transform.empty()) return path;
  test::write_transformed(path, scratch, transform);
  return scratch;
}

void expect_refusal(const json& expected, const Parsed<KernelTable>& got) {
  ASSERT_FALSE(got.ok());
  const auto error = std::find_if(got.diagnostics.begin(), got.diagnostics.end(),
                                  [](const Diagnostic& d) { return d.severity == Severity::error; });
  ASSERT_NE(error, got.diagnostics.end());
  EXPECT_EQ(error->code, expected["error"].get<std::string>()) << error->message;
  if (expected.contains("line")) {
    EXPECT_EQ(error->line, expected["line"].get<int>()) << error->message;
  }
  if (expected.contains("message")) {
    EXPECT_THAT(error->message, HasSubstr(expected["message"].get<std::string>()));
  }
}

void expect_optional(const json& expected, const char* key, const std::optional<double>& value) {
  if (!expected.contains(key)) return;
  if (expected[key].is_null()) {
    EXPECT_FALSE(value.has_value()) << key;
    return;
  }
  ASSERT_TRUE(value.has_value()) << key;
  EXPECT_DOUBLE_EQ(*value, expected[key].get<double>()) << key;
}

void expect_table(const json& expected, const KernelTable& t) {
  if (expected.contains("kernels")) {
    json kernels = json::array();
    for (const KernelRow& row : t.kernels) kernels.push_back({row.identity, row.launches, row.time_ns});
    EXPECT_EQ(kernels, expected["kernels"]);
  }
  if (expected.contains("names")) {
    json names = json::array();
    for (const KernelRow& row : t.kernels) names.push_back(row.name);
    EXPECT_EQ(names, expected["names"]);
  }
  if (expected.contains("calls")) {
    EXPECT_EQ(t.calls ? json(*t.calls) : json(nullptr), expected["calls"]);
  }
  if (expected.contains("account")) {
    EXPECT_EQ(json({t.account.rows, t.account.kept, t.account.dropped, t.account.ignored}),
              expected["account"]);
  }
  if (expected.contains("memcpy")) {
    EXPECT_EQ(json({t.memcpy->count, t.memcpy->time_ns}), expected["memcpy"]);
  }
  if (expected.contains("memset")) {
    EXPECT_EQ(json({t.memset->count, t.memset->time_ns}), expected["memset"]);
  }
  if (expected.contains("region")) {
    EXPECT_EQ(t.region, expected["region"].get<std::string>());
  }
  if (expected.contains("device")) {
    EXPECT_EQ(t.device, expected["device"].get<std::string>());
  }
  if (expected.contains("streams")) {
    EXPECT_EQ(t.streams, expected["streams"].get<std::int64_t>());
  }
  EXPECT_EQ(t.kernels.front().truncated, expected.value("truncated", false));
  EXPECT_EQ(t.lossy, expected.value("lossy", false));
  expect_optional(expected, "per_call", t.time_ns_per_call);
  expect_optional(expected, "busy_ns", t.busy_ns);
  expect_optional(expected, "gaps_ns", t.gaps_ns);
  expect_optional(expected, "overlap_ns", t.overlap_ns);
  expect_optional(expected, "tensor_pct", t.kernels.front().tensor_pct);
  EXPECT_EQ(t.account.rows, t.account.kept + t.account.dropped + t.account.ignored);
}

TEST(Variants, EachTrapHasItsAnswer) {
  const std::string scratch = testing::TempDir() + "plumbline_variant_" + std::to_string(::getpid());
  const json all = expectations();
  EXPECT_GE(all.size(), 40U);
  for (const json& expected : all) {
    SCOPED_TRACE(expected["file"].get<std::string>() + ": " + expected["trap"].get<std::string>());
    const auto got = import_profile(file_of(expected, scratch), options_of(expected));
    if (expected.contains("error")) {
      expect_refusal(expected, got);
      continue;
    }
    ASSERT_TRUE(got.ok()) << (got.diagnostics.empty() ? "" : format_diagnostic(got.diagnostics.back()));
    expect_table(expected, *got.value);
    json warnings = json::array();
    for (const Diagnostic& d : got.diagnostics) warnings.push_back(d.code);
    EXPECT_EQ(warnings, expected.value("warnings", json::array()));
  }
  std::filesystem::remove(scratch);
  std::filesystem::remove(scratch + ".sqlite");
}

TEST(Variants, EveryFileIsExpectedAndEveryErrorOfTheImportersIsShown) {
  std::set<std::string> files;
  for (const json& expected : expectations()) files.insert(expected["file"].get<std::string>());
  for (const auto& entry : std::filesystem::directory_iterator(kVariants)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "expectations.json" || files.count(name) == 1) << name;
  }
}

/// A table is the same after writing and reading, whatever file it came from.
TEST(Variants, TablesSurviveTheirOwnFormat) {
  const std::string scratch = testing::TempDir() + "plumbline_variant_json_" + std::to_string(::getpid());
  for (const json& expected : expectations()) {
    if (expected.contains("error")) continue;
    SCOPED_TRACE(expected["file"].get<std::string>());
    const auto got = import_profile(file_of(expected, scratch), options_of(expected));
    ASSERT_TRUE(got.ok());
    const std::string text = write_json(to_json(*got.value));
    const auto again = parse_kernel_table(text, "table.json");
    ASSERT_TRUE(again.ok()) << again.diagnostics.front().message;
    EXPECT_EQ(write_json(to_json(*again.value)), text);
  }
}

}  // namespace
}  // namespace plumbline
