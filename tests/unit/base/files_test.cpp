// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace plumbline {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("plumbline_files_" + std::to_string(::getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::string path(const std::string& name) const { return (dir_ / name).string(); }

  fs::path dir_;
};

std::string code_of(const Parsed<std::string>& result) {
  return result.diagnostics.empty() ? "" : result.diagnostics[0].code;
}

TEST_F(Files, ReplacingKeepsTheModeAndTheLink) {
  ASSERT_TRUE(write_file(path("target"), "old").empty());
  ASSERT_EQ(::chmod(path("target").c_str(), 0640), 0);
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new").empty());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")).value, "new");
  struct stat info {};
  ASSERT_EQ(::stat(path("target").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
}

TEST_F(Files, DevicesStayAndPipesWithoutReadersRefuse) {
  EXPECT_TRUE(write_file("/dev/null", "gone").empty());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(write_file(path("pipe"), "x").at(0).code, "file-unwritable");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  fs::create_symlink("nowhere", path("dangling"));
  EXPECT_EQ(write_file(path("dangling"), "x").at(0).code, "file-unwritable");
  EXPECT_FALSE(fs::exists(path("nowhere")));
  for (const auto& entry : fs::directory_iterator(dir_)) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(Files, TwoOutputsOnOnePathAreRefused) {
  const std::vector<std::string> apart{path("a"), "", path("b"), "", "/dev/null", "/dev/null"};
  EXPECT_TRUE(distinct_outputs(apart).empty());
  const std::vector<std::string> same{path("a"), path("./a")};
  ASSERT_EQ(distinct_outputs(same).size(), 1U);
  EXPECT_EQ(distinct_outputs(same)[0].code, "file-same-output");
}

TEST_F(Files, ReadsBackWhatWasWritten) {
  EXPECT_TRUE(write_file(path("a"), "x\0y\n").empty());
  EXPECT_EQ(read_file(path("a")).value, std::string("x"));
  EXPECT_TRUE(write_file(path("a"), "second").empty());
  EXPECT_EQ(read_file(path("a")).value, "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()), 1)
      << "nothing left beside";
}

TEST_F(Files, EachKindOfBadFileHasItsOwnCode) {
  EXPECT_EQ(code_of(read_file(path("absent"))), "file-missing");
  EXPECT_EQ(code_of(read_file("")), "file-missing");
  EXPECT_EQ(code_of(read_file(dir_.string())), "file-not-regular");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of(read_file(path("pipe"))), "file-not-regular");
  write_file(path("big"), std::string(1000, 'x'));
  EXPECT_EQ(code_of(read_file(path("big"), 999)), "file-too-large");
  fs::create_symlink(path("nowhere"), path("dangling"));
  EXPECT_EQ(code_of(read_file(path("dangling"))), "file-missing");
  EXPECT_EQ(code_of(read_file("/dev/zero")), "file-not-regular");
}

TEST_F(Files, NamesTheByteThatIsNotUtf8) {
  write_file(path("latin"), "ok\nb\xe4r");
  const auto result = read_text_file(path("latin"));
  ASSERT_EQ(code_of(result), "file-not-utf8");
  EXPECT_EQ(result.diagnostics[0].line, 2);
  EXPECT_EQ(result.diagnostics[0].column, 2);
}

TEST_F(Files, ARefusedWriteLeavesNothing) {
  const Diagnostics refused = write_file(path("no/such/dir"), "x");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].code, "file-unwritable");
  EXPECT_EQ(write_file(dir_.string(), "x")[0].code, "file-unwritable");
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace plumbline
