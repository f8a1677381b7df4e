// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plumbline/table/diff.h"

namespace plumbline {
namespace {

KernelRow row(std::string name, std::int64_t launches, double time_ns) {
  KernelRow r;
  r.name = std::move(name);
  r.launches = launches;
  r.time_ns = time_ns;
  return r;
}

KernelTable sample() {
  KernelTable t;
  t.source = "ncu-csv";
  t.device = "NVIDIA H200";
  t.region = "profiler";
  t.calls = 2;
  t.kernels = {row("void a::small<1>(int)", 2, 20), row("void a::big<1>(int)", 2, 300),
               row("void a::small<1>(int)", 2, 20)};
  t.account = {5, 3, 0, 2};
  finish_table(t);
  return t;
}

TEST(FinishTable, SumsOneNameSortsAndFills) {
  const KernelTable t = sample();
  ASSERT_EQ(t.kernels.size(), 2U);
  EXPECT_EQ(t.kernels[0].identity, "big");
  EXPECT_EQ(t.kernels[1].launches, 4);
  EXPECT_EQ(t.kernels[1].time_ns, 40);
  EXPECT_EQ(t.total_ns, 340);
  EXPECT_EQ(t.time_ns_per_call, 170);
  EXPECT_EQ(t.dominant, "big");
  EXPECT_DOUBLE_EQ(t.kernels[0].pct + t.kernels[1].pct, 100);
}

TEST(FinishTable, EqualTimesAreOrderedByName) {
  KernelTable t;
  t.kernels = {row("b", 1, 5), row("a", 1, 5)};
  finish_table(t);
  EXPECT_EQ(t.kernels[0].name, "a");
  EXPECT_FALSE(t.time_ns_per_call.has_value());
}

TEST(TableJson, ReadsWhatItWrites) {
  KernelTable t = sample();
  t.kernels[0].tensor_pct = 47.5;
  t.kernels[0].min_ns = 100;
  t.kernels[0].max_ns = 200;
  t.busy_ns = 340;
  t.gaps_ns = 10.5;
  t.streams = 2;
  t.memcpy = CopyTotals{3, 77};
  t.notes = {"a note"};
  t.lossy = true;
  const std::string text = write_json(to_json(t));
  const auto again = parse_kernel_table(text, "t.json");
  ASSERT_TRUE(again.ok()) << again.diagnostics.front().message;
  EXPECT_EQ(write_json(to_json(*again.value)), text);
  EXPECT_TRUE(again.value->lossy);
}

TEST(TableJson, RefusesWhatCannotBe) {
  const auto code = [](const std::string& text) {
    const auto t = parse_kernel_table(text, "t.json");
    return t.diagnostics.empty() ? std::string("none") : t.diagnostics.front().code;
  };
  const std::string head = R"({"schema":"plumbline-table/1","source":"x",)";
  EXPECT_EQ(code("[]"), "table-schema");
  EXPECT_EQ(code("{"), "json-syntax");
  EXPECT_EQ(code(R"({"schema":"plumbline-table/2","kernels":[]})"), "table-schema");
  EXPECT_EQ(code(head + R"("kernels":{}})"), "table-value");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"f","launches":1}]})"), "table-value");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"f","launches":1,"time_ns":-1}]})"), "table-value");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"f","launches":1,"time_ns":1e999}]})"), "json-syntax");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"f","launches":18446744073709551615,"time_ns":1}]})"),
            "table-value");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"","launches":1,"time_ns":1}]})"), "table-value");
  EXPECT_EQ(code(head + R"("total_ns":9,"kernels":[{"name":"f","launches":1,"time_ns":1}]})"), "table-value");
  EXPECT_EQ(
      code(head + R"("account":{"rows":2,"kept":1},"kernels":[{"name":"f","launches":1,"time_ns":1}]})"),
      "table-value");
  EXPECT_EQ(code(head + R"("kernels":[{"name":"f","launches":1,"time_ns":1}]})"), "none");
}

TEST(DiffTables, JoinsByIdentityAndSumsToTheTotals) {
  KernelTable a;
  a.calls = 2;
  a.kernels = {row("void at::elementwise_kernel<(int)4>(int)", 4, 40), row("fwd", 2, 200)};
  finish_table(a);
  KernelTable b;
  b.calls = 1;
  b.kernels = {row("void at::native::elementwise_kernel<4>(int)", 2, 30), row("bwd", 1, 50)};
  finish_table(b);
  const TableDiff d = diff_tables(a, b);
  EXPECT_TRUE(d.per_call);
  double sum = 0;
  for (const DiffRow& r : d.rows) sum += r.delta_ns;
  EXPECT_DOUBLE_EQ(sum, d.after_ns - d.before_ns);
  ASSERT_EQ(d.rows.size(), 3U);
  EXPECT_EQ(d.rows[0].identity, "fwd");
  EXPECT_EQ(d.rows[0].delta_ns, -100);
  EXPECT_EQ(d.rows[2].identity, "elementwise_kernel");
  EXPECT_EQ(d.rows[2].delta_ns, 10);
  EXPECT_FALSE(d.rows[2].ambiguous);
}

TEST(DiffTables, ReportsAmbiguousJoins) {
  KernelTable a;
  a.kernels = {row("elementwise_kernel<1>(int)", 1, 4), row("elementwise_kernel<2>(int)", 1, 5)};
  finish_table(a);
  KernelTable b;
  b.kernels = {row("elementwise_kernel<3>(int)", 1, 4)};
  finish_table(b);
  EXPECT_TRUE(diff_tables(a, b).rows.at(0).ambiguous);
  EXPECT_FALSE(diff_tables(a, a).rows.at(0).ambiguous);
}

}  // namespace
}  // namespace plumbline
