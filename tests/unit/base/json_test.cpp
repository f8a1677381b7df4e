// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

TEST(WriteJson, IsPythonsSortedIndentedForm) {
  const Json value = {{"b", {1, 2.5, true, nullptr}},
                      {"a", {{"x", "é\u2028\x7f\"\n"}}},
                      {"e", Json::array()},
                      {"o", Json::object()}};
  EXPECT_EQ(
      write_json(value),
      "{\n  \"a\": {\n    \"x\": \"\\u00e9\\u2028\\u007f\\\"\\n\"\n  },\n  \"b\": [\n    1,\n    2.5,\n    "
      "true,\n    null\n  ],\n  \"e\": [],\n  \"o\": {}\n}\n");
  EXPECT_EQ(write_json_line(Json{{"b", 1}, {"a", "😀"}}), "{\"a\":\"\\ud83d\\ude00\",\"b\":1}");
}

TEST(WriteJson, SurvivesBytesThatAreNotUtf8) { EXPECT_EQ(write_json_line(Json("a\xff")), "\"a\\ufffd\""); }

TEST(ParseJson, NamesLineAndColumn) {
  const auto result = parse_json("{\n  \"a\": nope\n}", "f.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics[0].code, "json-syntax");
  EXPECT_EQ(result.diagnostics[0].line, 2);
}

TEST(ParseJson, RefusesDepthWithoutRecursion) {
  const auto result = parse_json(std::string(100000, '['), "f.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics[0].code, "json-too-deep");
}

TEST(ParseJson, RefusesNumbersOutsideDouble) { EXPECT_FALSE(parse_json("[1e999]", "f").ok()); }

TEST(ParseJsonOrdered, KeepsFirstPlaceAndLastValue) {
  const auto result = parse_json_ordered(R"({"b":1,"a":2,"b":3})", "f");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value->dump(), R"({"b":3,"a":2})");
}

TEST(ParseJsonOrdered, IsTheLibrarysValue) {
  for (const char* text :
       {"null", "[]", "{}", "[1, -2, 2.5, true, null, \"a\\u00e9\", 18446744073709551615]",
        R"({"z": {"y": [{}, {"x": [[1], {"w": null}]}], "": 1}, "a": "b", "z ": [[[]]]})"}) {
    const auto result = parse_json_ordered(text, "f");
    ASSERT_TRUE(result.ok()) << text;
    EXPECT_EQ(result.value->dump(), OrderedJson::parse(text).dump());
  }
  for (const char* text : {"", "[", "{\"a\"}", "[1e999]", "{\"a\": 1,}", "[1] 2"})
    EXPECT_FALSE(parse_json_ordered(text, "f").ok()) << text;
}

// By looking through all keys for each new one, 100,000 take half a minute under the sanitizers.
TEST(ParseJsonOrdered, TakesTimeByTheKeysNotByTheirSquare) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  const auto result = parse_json_ordered(text + "}", "f");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value->size(), 100000U);
}

TEST(Json, FindsAKeyThatStandsTwice) {
  EXPECT_FALSE(duplicate_key(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}], "c": "a"})", "f"));
  const auto twice = duplicate_key("{\n \"ratio\": 1,\n \"x\": {\"r\\u0061tio\": 2, \"ratio\": 3}}", "f");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->code, "json-duplicate-key");
  EXPECT_EQ(twice->line, 3);
  EXPECT_EQ(twice->column, 25);
}

TEST(Json, ANumberBeyondTheRangeHasItsPlace) {
  const auto result = parse_json("{\n  \"a\": 1e999}", "f");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics[0].line, 2);
  EXPECT_EQ(result.diagnostics[0].column, 8);
}

}  // namespace
}  // namespace plumbline
