// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "plumbline/ledger/exchange.h"
#include "plumbline/ledger/pack.h"
#include "plumbline/ledger/schema.h"
#include "plumbline/ledger/verify.h"

namespace plumbline::ledger {
namespace {

class LedgerFile : public testing::Test {
 protected:
  LedgerFile()
      : folder_(std::filesystem::temp_directory_path() / ("ledger_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~LedgerFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

RunRecord run_of(int number, const std::string& outcome = "fail-gate") {
  RunRecord run;
  run.ident = make_ident(1'764'000'000'000ULL + static_cast<std::uint64_t>(number), "0123456789");
  run.card = "scan";
  run.made_at = "2026-12-03T01:02:03Z";
  run.outcome = outcome;
  run.series = {"NVIDIA H200", "580.1", "pipelined", "plumbline 0.1.0", std::string(64, 'a')};
  run.note = "with \"quotes\" and a\ttab";
  if (may_carry_numbers(outcome)) {
    run.gate = 1.0;
    run.raw_ratio = 0.75 + number * 0.001;
    run.student_ms = 0.4;
    run.readings = {{"wide", "{\"n\":8}", 0.4, 0.3, 0.75, 0.002}, {"narrow", "", 0.2, 0.1, 0.5, {}}};
  }
  return run;
}

std::vector<std::string> codes(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(d.code);
  return out;
}

TEST_F(LedgerFile, GivesBackWhatWasAdded) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  ASSERT_TRUE(ledger.ok());
  Batch batch;
  RunRecord run = run_of(1);
  run.parts["eval"] = batch.put("{\"performance\":{}}");
  run.code.files["kernel.py"] = batch.put(std::string("a\0b", 3));
  name_code(run.code);
  batch.runs = {run};
  const auto added = ledger.value->add(batch);
  ASSERT_TRUE(added.ok()) << added.diagnostics.front().message;
  const auto again = ledger.value->find(run.ident.substr(0, 14));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(write_json_line(to_json(again.value->record)), write_json_line(to_json([&] {
              std::swap(run.readings[0], run.readings[1]);  // by name
              return run;
            }())));
  EXPECT_EQ(digest(run), again.value->digest);
  const auto document = ledger.value->document(run.code.files["kernel.py"]);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document.value->content, std::string("a\0b", 3));
}

TEST_F(LedgerFile, ARunIsThereOnceAndNeverChanges) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  batch.runs = {run_of(1), run_of(2)};
  EXPECT_EQ(ledger.value->add(batch).value->already, 0u);
  EXPECT_EQ(ledger.value->add(batch).value->already, 2u);
  EXPECT_EQ(*ledger.value->count().value, 2);
  batch.runs[1].raw_ratio = 2.0;
  EXPECT_THAT(codes(ledger.value->add(batch).diagnostics), testing::ElementsAre("ledger-run-differs"));
  EXPECT_FALSE(ledger.value->connection().run("UPDATE runs SET note = 'x'", {}));
  ledger.value->connection().rollback();
  EXPECT_FALSE(ledger.value->connection().run("DELETE FROM readings", {}));
  ledger.value->connection().rollback();
  EXPECT_TRUE(verify(*ledger.value).value->problems.empty());
}

TEST_F(LedgerFile, NothingOfABatchThatFailsIsKept) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  batch.runs = {run_of(1), run_of(2)};
  batch.runs[1].parts["eval"] = std::string(64, '0');
  EXPECT_THAT(codes(ledger.value->add(batch).diagnostics), testing::ElementsAre("ledger-part-missing"));
  EXPECT_EQ(*ledger.value->count().value, 0);
  batch.runs[1].parts.clear();
  EXPECT_TRUE(ledger.value->add(batch).ok());  // what was interned by the failed attempt is forgotten
  EXPECT_EQ(*ledger.value->count().value, 2);
}

TEST_F(LedgerFile, OnlyAMeasuredOutcomeCarriesARatio) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  batch.runs = {run_of(1)};
  batch.runs[0].outcome = "infrastructure";
  EXPECT_FALSE(ledger.value->add(batch).ok());
  EXPECT_EQ(*ledger.value->count().value, 0);
}

TEST_F(LedgerFile, ACorrectionNamesTheOldRow) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  batch.runs = {run_of(1), run_of(2)};
  batch.runs[1].corrects = batch.runs[0].ident;
  ASSERT_TRUE(ledger.value->add(batch).ok());
  EXPECT_EQ(ledger.value->load(1).value->corrected_by, 2);
  RunFilter filter;
  filter.readings_only = true;
  const auto lines = ledger.value->list(filter);
  ASSERT_EQ(lines.value->size(), 1u);
  EXPECT_EQ(lines.value->front().id, 2);
}

TEST_F(LedgerFile, AnExportImportsAsWhatItWas) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  for (int i = 0; i < 5; ++i) batch.runs.push_back(run_of(i, i % 2 == 0 ? "pass" : "refused"));
  batch.runs[4].corrects = batch.runs[0].ident;
  batch.runs[2].parts["verdict"] = batch.put("ümlaut");
  batch.runs[3].code.files["kernel.py"] = batch.put("\xff\xfe");
  name_code(batch.runs[3].code);
  ASSERT_TRUE(ledger.value->add(batch).ok());
  const auto exported = [](Ledger& from) {
    std::string out;
    EXPECT_TRUE(export_lines(from, "", [&](std::string_view text) {
                  out += text;
                  return true;
                }).empty());
    return out;
  };
  const std::string text = exported(*ledger.value);
  auto other = Ledger::open(path("b.db"), Access::write);
  std::size_t at = 0;
  const auto imported = import_lines(
      *other.value, "x",
      [&](std::string& line) {
        if (at >= text.size()) return false;
        const std::size_t end = text.find('\n', at);
        line = text.substr(at, end - at);
        at = end + 1;
        return true;
      },
      2);
  ASSERT_TRUE(imported.ok()) << imported.diagnostics.front().message;
  EXPECT_EQ(imported.value->added, 5u);
  EXPECT_EQ(exported(*other.value), text);
  EXPECT_TRUE(verify(*other.value).value->problems.empty());
}

TEST_F(LedgerFile, VerifySeesWhatAnotherProgramChanged) {
  auto ledger = Ledger::open(path("a.db"), Access::write);
  Batch batch;
  batch.runs = {run_of(1)};
  batch.runs[0].parts["verdict"] = batch.put(std::string(500, 'v'));
  ASSERT_TRUE(ledger.value->add(batch).ok());
  Connection& connection = ledger.value->connection();
  ASSERT_TRUE(connection.script(
      "DROP TRIGGER runs_stay; UPDATE runs SET raw_ratio = 9; UPDATE parts SET packed = x'00'"));
  EXPECT_THAT(
      codes(verify(*ledger.value).value->problems),
      testing::UnorderedElementsAre("ledger-part-damaged", "ledger-part-damaged", "ledger-row-damaged"));
}

TEST_F(LedgerFile, ANewerSchemaAndAForeignFileAreRefused) {
  {
    auto ledger = Ledger::open(path("a.db"), Access::write);
    ASSERT_TRUE(ledger.value->connection().script("INSERT INTO plumbline_ledger VALUES (99)"));
    auto foreign = open_sqlite(path("b.db"), Access::write);
    ASSERT_TRUE((*foreign.value)->script("CREATE TABLE other (x)"));
  }
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_THAT(codes(Ledger::open(path("a.db"), access).diagnostics), testing::ElementsAre("ledger-newer"));
    EXPECT_THAT(codes(Ledger::open(path("b.db"), access).diagnostics),
                testing::ElementsAre("ledger-foreign"));
  }
  EXPECT_THAT(codes(Ledger::open(path("none.db"), Access::read).diagnostics),
              testing::ElementsAre("ledger-missing"));
}

TEST(LedgerLines, BadLinesAreNamed) {
  Batch batch;
  const Location where{"f", 7, 1};
  const std::string good = write_json_line(to_json(run_of(3)));
  EXPECT_TRUE(read_line("{\"run\":" + good + "}", where, batch).empty());
  const auto said = [&](std::string line) { return codes(read_line(line, where, batch)); };
  EXPECT_THAT(said("{"), testing::ElementsAre("json-syntax"));
  EXPECT_THAT(said("[]"), testing::ElementsAre("ledger-line"));
  EXPECT_THAT(said("{\"run\":{}}"), testing::ElementsAre("ledger-line"));
  EXPECT_THAT(said("{\"plumbline_ledger\":2}"), testing::ElementsAre("ledger-newer"));
  EXPECT_THAT(said("{\"document\":\"" + std::string(64, '0') + "\",\"text\":\"x\"}"),
              testing::ElementsAre("ledger-line"));
  std::string carries = good;
  carries.replace(carries.find("fail-gate"), 9, "tampering");
  EXPECT_THAT(said("{\"run\":" + carries + "}"), testing::ElementsAre("ledger-line"));
}

TEST(LedgerPack, DamageGivesNothing) {
  const std::string content(100'000, 'k');
  const std::string packed = pack(content);
  EXPECT_LT(packed.size(), 1000u);
  EXPECT_EQ(unpack(packed, 100'000), content);
  EXPECT_EQ(unpack(pack(""), 0), "");
  EXPECT_FALSE(unpack(packed, 99'999));
  EXPECT_FALSE(unpack(packed, std::int64_t{1} << 40));
  EXPECT_FALSE(unpack(packed.substr(0, 20), 100'000));
  EXPECT_FALSE(unpack(packed, -1));
}

TEST(LedgerPlace, APasswordIsNeverShown) {
  EXPECT_EQ(shown_place("postgresql://me:secret@host:5432/db"), "postgresql://me@host:5432/db");
  EXPECT_EQ(shown_place("/a/b@c.db"), "/a/b@c.db");
}

}  // namespace
}  // namespace plumbline::ledger
