// SPDX-License-Identifier: Apache-2.0
// What must not change a table: the unit, the order of the rows, the locale, the encoding, the page.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/profile/import.h"
#include "tests/unit/profile/transform.h"

namespace plumbline {
namespace {

/// Launches of a made-up profile: kernel number and nanoseconds, in tens (details pages round to 10 ns).
using Launches = std::vector<std::pair<int, std::int64_t>>;

rc::Gen<Launches> launches() {
  return rc::gen::nonEmpty(rc::gen::container<Launches>(rc::gen::pair(
      rc::gen::inRange(0, 5),
      rc::gen::map(rc::gen::inRange<std::int64_t>(1, 2'000'000), [](std::int64_t v) { return v * 10; }))));
}

std::string name_of(int kernel) {
  return fmt::format("void ns::kernel_{}<{}, float>(float *, int)", kernel, kernel);
}

/// "1234567.89" in a locale: group and decimal signs.
std::string number(double value, int digits, const char* group, const char* decimal) {
  std::string text = format_fixed(value, digits);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string out;
  for (std::size_t i = 0; i < point; ++i) {
    out += text[i];
    if ((point - 1 - i) % 3 == 0 && i + 1 < point) out += group;
  }
  if (point < text.size()) out += decimal + text.substr(point + 1);
  return out;
}

struct Spelling {
  std::string unit = "ns";
  double scale = 1;  ///< ns per unit
  int digits = 0;
  const char* group = ",";
  const char* decimal = ".";
  const char* end = "\n";
};

std::vector<std::string> detail_rows(const Launches& all, const Spelling& s) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string base = fmt::format(
        "\"{}\",\"1\",\"app\",\"h\",\"{}\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"S\",", i,
        name_of(all[i].first));
    rows.push_back(
        base + fmt::format("\"Duration\",\"{}\",\"{}\"{}", s.unit,
                           number(static_cast<double>(all[i].second) / s.scale, s.digits, s.group, s.decimal),
                           s.end));
    // A cell that tells the locale, as every real page has.
    rows.push_back(base +
                   fmt::format("\"Throughput\",\"%\",\"{}\"{}", number(12.5, 2, s.group, s.decimal), s.end));
  }
  return rows;
}

std::string details(const std::vector<std::string>& rows, const Spelling& s) {
  std::string text = std::string(
                         "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
                         "Name\",\"Context\",\"Stream\",\"Block Size\","
                         "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
                         "Unit\",\"Metric Value\"") +
                     s.end;
  for (const std::string& row : rows) text += row;
  return text;
}

std::string table_of(const std::string& text, const std::string& transform = "") {
  const std::string path = testing::TempDir() + "plumbline_property_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << text;
  std::string read = path;
  if (!transform.empty()) {
    test::write_transformed(path, path + ".other", transform);
    read = path + ".other";
  }
  auto table = import_profile(read);
  if (!table.ok()) return table.diagnostics.back().code + ": " + table.diagnostics.back().message;
  // What is printed with decimals is rounded, and said to be: the figures are compared, not that note.
  std::erase_if(table.value->notes,
                [](const std::string& note) { return note.starts_with("durations are printed"); });
  table.value->file_sha256.clear();  // other spellings are other files
  return write_json(to_json(*table.value));
}

RC_GTEST_PROP(NcuCsv, UnitsDoNotChangeTheTable, ()) {
  const Launches all = *launches();
  const std::string expected = table_of(details(detail_rows(all, {}), {}));
  RC_ASSERT(expected.find("plumbline-table/1") != std::string::npos);
  const Spelling units[] = {{"usecond", 1e3, 2}, {"ms", 1e6, 5}, {"second", 1e9, 8}};
  for (const Spelling& s : units) RC_ASSERT(table_of(details(detail_rows(all, s), s)) == expected);
}

RC_GTEST_PROP(NcuCsv, LocaleDoesNotChangeTheTable, ()) {
  const Launches all = *launches();
  const std::string expected = table_of(details(detail_rows(all, {}), {}));
  for (const auto& [group, decimal] :
       {std::pair(".", ","), std::pair("\u202F", ","), std::pair("", "."), std::pair("'", ".")}) {
    for (const auto& [unit, scale, digits] : {std::tuple("ns", 1.0, 0), std::tuple("us", 1e3, 2)}) {
      const Spelling s{unit, scale, digits, group, decimal};
      RC_ASSERT(table_of(details(detail_rows(all, s), s)) == expected);
    }
  }
}

RC_GTEST_PROP(NcuCsv, RowOrderDoesNotChangeTheTable, ()) {
  const Launches all = *launches();
  std::vector<std::string> rows = detail_rows(all, {});
  const std::string expected = table_of(details(rows, {}));
  const auto keys = *rc::gen::container<std::vector<unsigned>>(rows.size(), rc::gen::arbitrary<unsigned>());
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<std::string> shuffled;
  for (const std::size_t i : order) shuffled.push_back(rows[i]);
  RC_ASSERT(table_of(details(shuffled, {})) == expected);
}

RC_GTEST_PROP(NcuCsv, EncodingDoesNotChangeTheTable, ()) {
  const Launches all = *launches();
  const std::string text = details(detail_rows(all, {}), {});
  const std::string expected = table_of(text);
  for (const char* transform : {"utf16le", "utf16be", "utf16le_crlf", "bom", "crlf", "gzip"}) {
    RC_ASSERT(table_of(text, transform) == expected);
  }
}

RC_GTEST_PROP(TorchTrace, EventOrderAndNumberFormDoNotChangeTheTable, ()) {
  const Launches all = *launches();
  std::vector<std::string> events;
  std::int64_t at = 1'000'000;
  for (const auto& [kernel, ns] : all) {
    const auto micros = [](std::int64_t v) { return fmt::format("{}.{:03}", v / 1000, v % 1000); };
    events.push_back(fmt::format(
        "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{}\",\"pid\":0,\"tid\":7,\"ts\":{},\"dur\":{}}}",
        name_of(kernel), micros(at), micros(ns)));
    at += ns + 500;
  }
  const auto document = [&] {
    std::string text = "{\"traceEvents\":[";
    for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ",") + events[i];
    return text + "]}";
  };
  const std::string expected = table_of(document());
  RC_ASSERT(expected.find("plumbline-table/1") != std::string::npos);
  std::reverse(events.begin(), events.end());
  RC_ASSERT(table_of(document()) == expected);
}

}  // namespace
}  // namespace plumbline
