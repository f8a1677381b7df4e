// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/hardware_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace plumbline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

const std::vector<std::string> kDirectories{PLUMBLINE_SOURCE_DIR "/hardware"};

TEST(HardwareFile, TheShippedFilesRead) {
  EXPECT_THAT(hardware_names(kDirectories), IsSupersetOf({"a100", "h100", "h200", "t4"}));
  for (const std::string& name : hardware_names(kDirectories)) {
    const auto loaded = load_hardware(name, kDirectories);
    ASSERT_TRUE(loaded.ok()) << name << ": "
                             << (loaded.diagnostics.empty() ? "" : loaded.diagnostics[0].message);
    EXPECT_EQ(loaded.value->name, name);
    EXPECT_FALSE(loaded.value->sheet.url_or_document.empty());
  }
  EXPECT_EQ(load_hardware("a100", kDirectories).value->proxy->geglu_gbps, 1200);
}

TEST(HardwareFile, AnUnknownNameListsTheKnownOnes) {
  const auto loaded = load_hardware("b300", kDirectories);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.diagnostics.at(0).code, "hardware-unknown");
  EXPECT_THAT(loaded.diagnostics[0].message, HasSubstr("a100"));
  EXPECT_THAT(loaded.diagnostics[0].message, HasSubstr("t4"));
  EXPECT_EQ(load_hardware("", kDirectories).diagnostics.at(0).code, "hardware-unknown");
  EXPECT_EQ(load_hardware("./no.toml", kDirectories).diagnostics.at(0).code, "file-missing");
}

TEST(HardwareFile, FirstDirectoryWinsAndAPathIsTakenAsItIs) {
  const fs::path folder = fs::path(testing::TempDir()) / "plumbline_hardware_file_test";
  fs::create_directories(folder);
  Hardware mine = *load_hardware("t4", kDirectories).value;
  mine.name = "a100";
  std::ofstream(folder / "a100.toml") << write_hardware(mine);
  const std::vector<std::string> both{folder.string(), kDirectories[0]};
  EXPECT_EQ(load_hardware("a100", both).value->sheet.sm_count, 40);
  EXPECT_EQ(load_hardware((folder / "a100.toml").string(), kDirectories).value->sheet.sm_count, 40);
  fs::remove_all(folder);
}

TEST(HardwareFile, WritingAndReadingGivesTheSame) {
  Hardware h = *load_hardware("h100", kDirectories).value;
  h.sheet.product = "a \"quoted\" \\ name\n";
  h.proxy->geglu_gbps = 0.1 + 0.2;
  const auto back = parse_hardware(write_hardware(h), "x.toml");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value->sheet.product, h.sheet.product);
  EXPECT_EQ(back.value->proxy->geglu_gbps, h.proxy->geglu_gbps);
  EXPECT_EQ(write_hardware(*back.value), write_hardware(h));
}

TEST(HardwareFile, EveryProblemIsReportedWithItsPlace) {
  const auto parsed = parse_hardware(R"(nmae = "x"
[sheet]
product = ""
document = "d"
hbm_bandwidth_gbps = -1
bf16_tflops = "fast"
sm_count = 1.5
l2_bytes = 1
hbm_bytes = 99999999999999999
[proxy]
origin = "o"
)",
                                     "x.toml");
  ASSERT_FALSE(parsed.ok());
  std::map<std::string, int> codes;
  for (const Diagnostic& d : parsed.diagnostics) {
    ++codes[d.code];
    EXPECT_GT(d.line, 0) << d.message;
  }
  EXPECT_EQ(codes["hardware-field-invalid"], 5);
  EXPECT_EQ(codes["hardware-field-missing"], 11);  // name and the ten constants
  EXPECT_EQ(codes["hardware-field-unknown"], 1);
  EXPECT_THAT(parsed.diagnostics.back().message, HasSubstr("did you mean 'name'"));
}

TEST(HardwareFile, BrokenTomlIsASyntaxError) {
  EXPECT_EQ(parse_hardware("name = ", "x.toml").diagnostics.at(0).code, "toml-syntax");
  EXPECT_EQ(parse_hardware("sheet = 1", "x.toml").ok(), false);
}

TEST(HardwareFile, DirectoriesAreBesideTheBinaryAndInThePrefix) {
  EXPECT_THAT(hardware_directories("/opt/x/bin/plumbline"),
              ElementsAre("/opt/x/bin/hardware", "/opt/x/bin/../share/plumbline/hardware"));
}

}  // namespace
}  // namespace plumbline
