// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/arch_report.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/report/arch_compare.h"
#include "plumbline/report/arch_json.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/report/takeaways.h"
#include "plumbline/report/window_note.h"
#include "plumbline/search/builtin.h"

namespace plumbline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

ArchReport report_on(const std::vector<std::string>& names, std::vector<Layer> layers = {},
                     unsigned threads = 1) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  std::vector<Predictor> predictors;
  for (const std::string& name : names) {
    predictors.push_back(*choose_predictor(*load_hardware(name, folder).value, LatencyModel::proxy).value);
  }
  if (layers.empty()) layers.assign(builtin_layers().begin(), builtin_layers().end());
  return build_arch_report(predictors, std::move(layers), threads).value.value();
}

TEST(ArchReport, TheOriginalsFilesByteForByte) {
  const std::string folder = PLUMBLINE_SOURCE_DIR "/../shared/golden/noeris/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the original's reports are not here: " << folder;
  for (const std::string name : {"a100", "t4", "h100"}) {
    const ArchReport report = report_on({name});
    EXPECT_EQ(write_json(noeris_report_json(report, report.gpus[0])),
              read_all(folder + "nas-" + name + ".json"))
        << name;
  }
}

TEST(ArchReport, BytesDoNotDependOnThreads) {
  const std::string one = write_json(arch_report_json(report_on({"a100", "t4"}, {}, 1)));
  for (const unsigned threads : {0u, 2u, 8u}) {
    EXPECT_EQ(write_json(arch_report_json(report_on({"a100", "t4"}, {}, threads))), one);
  }
}

TEST(ArchReport, TimesOfTwoFrameworksAreNotCompared) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  const auto measured = [&](const char* name, const char* source) {
    return *choose_predictor(*load_hardware(name, folder, source).value, LatencyModel::measured, source)
                .value;
  };
  const std::vector<Layer> layers(builtin_layers().begin(), builtin_layers().end());
  const ArchReport same =
      build_arch_report(std::vector{measured("h100", "vllm"), measured("h200", "vllm")}, layers)
          .value.value();
  EXPECT_TRUE(same.agreement[0].comparable);
  EXPECT_TRUE(same.agreement[0].kendall_tau.has_value());
  EXPECT_THAT(arch_report_text(same, {}), HasSubstr("Do the GPUs agree?  (by vllm)"));
  const ArchReport mixed =
      build_arch_report(std::vector{measured("h100", "vllm"), measured("h200", "pytorch")}, layers)
          .value.value();
  EXPECT_FALSE(mixed.agreement[0].comparable);
  EXPECT_FALSE(mixed.agreement[0].kendall_tau.has_value());
  EXPECT_TRUE(agreement_takeaways(mixed).empty());
  EXPECT_THAT(arch_report_text(mixed, {}), HasSubstr("(mixed: h100 vllm, h200 pytorch;"));
  EXPECT_TRUE(arch_report_json(mixed)["agreement"][0]["discordant_pairs"].is_null());
}

TEST(ArchReport, AWindowDearerThanAllKeysNamesBothKernels) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  const Predictor predictor =
      *choose_predictor(*load_hardware("h200", folder, "pytorch").value, LatencyModel::measured, "pytorch")
           .value;
  Layer layer = *find_builtin_layer("llama3_8b");
  layer.seq_len = 2048;
  layer.window_size = 1792;  // nearly all keys, by the kernel that knows windows
  EXPECT_THAT(window_note(predictor, layer), HasSubstr("variable-length kernel"));
  layer.window_size = 2048;  // all of them: no window
  EXPECT_EQ(window_note(predictor, layer), "");
  layer.seq_len = 65536;
  layer.window_size = 512;  // far less work
  EXPECT_EQ(window_note(predictor, layer), "");
}

TEST(ArchReport, AgreementCountsThePairsThatSwap) {
  // A wide and shallow layer against one that leans on attention: the GPUs weigh the two differently.
  ArchReport report = report_on({"a100", "t4"});
  for (const Agreement& each : report.agreement) {
    EXPECT_EQ(each.pairs, 36);
    EXPECT_EQ(each.discordant_pairs, 0);
    EXPECT_EQ(*each.kendall_tau, 1);
  }
  std::vector<Layer> layers;
  for (int i = 0; i < 40; ++i) {
    Layer layer = builtin_layers()[static_cast<std::size_t>(i) % 9];
    layer.name += std::to_string(i);
    layer.seq_len = 100 + 397 * (i * 7 % 40);
    layer.use_qk_norm = i % 2 == 0;
    layers.push_back(layer);
  }
  report = report_on({"a100", "t4"}, layers);
  std::int64_t discordant = 0;  // counted the slow way
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (std::size_t j = i + 1; j < layers.size(); ++j) {
      const auto before = [&](std::size_t gpu) {
        const auto& p = report.gpus[gpu].predictions;
        return p[i].total_ms <= p[j].total_ms;
      };
      discordant += before(0) != before(1) ? 1 : 0;
    }
  }
  EXPECT_GT(discordant, 0);
  const Agreement& by_total = report.agreement[1];
  EXPECT_EQ(by_total.metric, Metric::total_ms);
  EXPECT_EQ(by_total.discordant_pairs, discordant);
  EXPECT_DOUBLE_EQ(*by_total.kendall_tau, 1 - 2.0 * static_cast<double>(discordant) / (40 * 39 / 2));
  EXPECT_FALSE(by_total.moved.empty());
}

TEST(ArchReport, TakeawaysFollowTheResults) {
  const ArchReport builtin = report_on({"a100"});
  EXPECT_THAT(takeaways(builtin, builtin.gpus[0]),
              Contains(HasSubstr("geglu_mlp takes the most time in all 9 layers")));
  Layer layer{"long", 128, 64, 64, 128, 128, 65536, 1};
  const ArchReport other = report_on({"a100"}, {layer});
  EXPECT_THAT(takeaways(other, other.gpus[0]),
              Contains(HasSubstr("attention takes the most time in the one layer")));
  EXPECT_THAT(takeaways(other, other.gpus[0]), Contains(HasSubstr("fastest: long")));
}

TEST(ArchReport, ALayerThatTheModelCannotCostRefusesTheReport) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  const Predictor t4 = *choose_predictor(*load_hardware("t4", folder).value, LatencyModel::proxy).value;
  Layer layer = builtin_layers()[0];
  layer.phase = Phase::decode;
  EXPECT_EQ(build_arch_report(std::vector{t4}, {layer}).diagnostics.at(0).code, "proxy-no-decode");
}

Artifact artifact_of(const Json& json) { return parse_artifact(write_json(json), "a.json").value.value(); }

TEST(ArchCompare, AnArtifactAgainstItselfIsStill) {
  const Artifact a = artifact_of(arch_report_json(report_on({"a100", "t4"})));
  const ArtifactComparison c = compare_artifacts(a, a);
  EXPECT_EQ(c.compared, 2 * (9 + 16 + 8));
  EXPECT_TRUE(c.moved.empty() && c.kernels.empty() && c.ranks.empty() && c.added.empty() && c.gone.empty());
}

TEST(ArchCompare, WhatMovedChangedRankIsNewOrGone) {
  Json before = arch_report_json(report_on({"a100"}));
  std::vector<Layer> layers(builtin_layers().begin(), builtin_layers().end());
  layers[2].seq_len = 8192;     // llama3_8b: another shape, slower, further down the ranking
  layers[4].name = "other_2b";  // optimal_2b is gone
  const Json after = arch_report_json(report_on({"a100"}, layers));
  const ArtifactComparison c = compare_artifacts(artifact_of(before), artifact_of(after));
  ASSERT_EQ(c.moved.size(), 1u);
  EXPECT_EQ(c.moved[0].name, "llama3_8b");
  EXPECT_TRUE(c.moved[0].shape_changed);
  EXPECT_GT(c.moved[0].pct, 200);
  EXPECT_EQ(c.largest_pct, c.moved[0].pct);
  EXPECT_THAT(c.added, ElementsAre("a100 other_2b"));
  EXPECT_THAT(c.gone, ElementsAre("a100 optimal_2b"));
  EXPECT_FALSE(c.ranks.empty());
  EXPECT_FALSE(c.kernels.empty());
  EXPECT_THAT(comparison_text(c, 2.0, {}), HasSubstr("over the bound of 2"));
  EXPECT_THAT(comparison_markdown(c, 1000.0), HasSubstr("within the bound of 1000"));
  EXPECT_EQ(comparison_json(c, 2.0).at("passed"), false);
  // The mirror image moves back.
  const ArtifactComparison back = compare_artifacts(artifact_of(after), artifact_of(before));
  EXPECT_NEAR((1 + c.moved[0].pct / 100) * (1 + back.moved[0].pct / 100), 1, 1e-12);
  EXPECT_EQ(back.added, c.gone);
}

TEST(ArchCompare, TheTwoSchemasHoldTheSameLatencies) {
  const ArchReport report = report_on({"h100"});
  const ArtifactComparison c = compare_artifacts(artifact_of(arch_report_json(report)),
                                                 artifact_of(noeris_report_json(report, report.gpus[0])));
  EXPECT_EQ(c.compared, 33);
  EXPECT_TRUE(c.moved.empty() && c.added.empty() && c.gone.empty() && c.ranks.empty());
}

TEST(ArchCompare, FilesThatAreNoArtifactsAreRefused) {
  EXPECT_EQ(parse_artifact("{", "x").diagnostics.at(0).code, "json-syntax");
  EXPECT_EQ(parse_artifact("[]", "x").diagnostics.at(0).code, "artifact-unknown");
  EXPECT_EQ(parse_artifact("{}", "x").diagnostics.at(0).code, "artifact-unknown");
  Json json = arch_report_json(report_on({"t4"}));
  json["schema_version"] = 2;
  EXPECT_EQ(parse_artifact(write_json(json), "x").diagnostics.at(0).code, "artifact-version");
  // Every part spoiled in turn, each in one of five ways: refused, or not read, but never a crash.
  json = arch_report_json(report_on({"t4"}));
  const Json flat = json.flatten();
  const Json bad[] = {Json(nullptr), Json("text"), Json(-1), Json::array(), Json::object()};
  std::size_t number = 0;
  int refused = 0;
  for (const auto& [pointer, value] : flat.items()) {
    Json spoiled = json;
    spoiled[Json::json_pointer(pointer)] = bad[number++ % std::size(bad)];
    refused += parse_artifact(write_json(spoiled), "x").ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace plumbline
