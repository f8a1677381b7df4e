// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/calibrate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/statistics.h"
#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/booster.h"
#include "plumbline/hardware/fit_op.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/kernel_sources.h"
#include "plumbline/hardware/minimise.h"
#include "plumbline/hardware/validate.h"

namespace plumbline {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kDirectories{PLUMBLINE_SOURCE_DIR "/hardware"};

DataSheet sheet() { return load_hardware("h200", kDirectories).value->sheet; }

TEST(Rows, EveryRowIsKeptOrRejectedWithItsReason) {
  const std::string text =
      "op,dtype,m,n,k,ms\r\n"
      "linear,bf16,2048,4096,4096,0.0976\r\n"
      "linear,bf16,2048,4096,4096,0.01\r\n"       // the tensor peak forbids it
      "linear,bf16,1,28672,8192,0.05\r\n"         // 470 MB cannot come from HBM so fast
      "linear,bf16,2048,4096,4096,97.6\r\n"       // microseconds
      "linear,bf16,2048,4096,4096,0.0000976\r\n"  // seconds
      "linear,bf16,1,32,32,0.0003\r\n"            // shorter than a launch
      "linear,int3,2048,4096,4096,0.0976\r\n"
      "linear,bf16,2048,0,4096,0.0976\r\n"
      "linear,bf16,2048,4096,4096,nan\r\n"
      "linear,bf16,2048,4096\r\n";
  MeasuredRows rows;
  const Diagnostics found = read_rows(text, "dir/g.csv", sheet(), rows);
  std::vector<std::string> codes;
  for (const Diagnostic& d : found) codes.push_back(d.code);
  EXPECT_THAT(codes, testing::ElementsAre("row-impossible", "row-impossible", "row-unit-slip",
                                          "row-unit-slip", "row-impossible", "row-malformed", "row-malformed",
                                          "row-malformed", "row-malformed"));
  EXPECT_THAT(found[0].message, HasSubstr("tensor peak"));
  EXPECT_THAT(found[1].message, HasSubstr("HBM"));
  EXPECT_THAT(found[2].message, HasSubstr("microseconds"));
  EXPECT_THAT(found[3].message, HasSubstr("seconds"));
  EXPECT_EQ(found[0].line, 3);
  ASSERT_EQ(rows.files.size(), 1u);
  EXPECT_EQ(rows.files[0].name, "g.csv");
  EXPECT_EQ(rows.files[0].rows, 1);
  EXPECT_EQ(rows.files[0].rejected, 9);
  EXPECT_EQ(rows.gemm.size(), 1u);
}

TEST(Rows, ThePublicTablesOwnColumnsAreUnderstood) {
  MeasuredRows rows;
  EXPECT_TRUE(read_rows("batch,seq_q,heads,kv_heads,head_dim,window,ms\n2,1024,32,8,128,128,0.05\n", "p.csv",
                        sheet(), rows)
                  .empty());
  EXPECT_TRUE(read_rows("batch,kv_len,heads,kv_heads,head_dim,window,us\n2,1024,32,8,128,0,15\n", "d.csv",
                        sheet(), rows)
                  .empty());
  ASSERT_EQ(rows.attention.size(), 2u);
  EXPECT_EQ(rows.attention[0].shape.q_len, 1024);
  EXPECT_EQ(rows.attention[0].shape.window, 128);
  EXPECT_FALSE(is_decode(rows.attention[0].shape));
  EXPECT_EQ(rows.attention[1].us, 15);
  EXPECT_TRUE(is_decode(rows.attention[1].shape));
}

TEST(Rows, KernelNamesAreReadWithoutTimes) {
  MeasuredRows rows;
  const Diagnostics found = read_rows(
      "m,n,k,kernel\n2048,4096,4096,nvjet_sm90_tst_256x128_64x4_1x2_h\n1,0,8,x\n1,8,8,\n1,8,8,\x01\n1,8,8\n"
      "1,8,8," +
          std::string(2000, 'x') + "\n",
      "dir/names.csv", sheet(), rows);
  EXPECT_THAT(found, testing::Each(testing::Field(&Diagnostic::code, "row-malformed")));
  ASSERT_EQ(found.size(), 5u);
  EXPECT_THAT(found[1].message, HasSubstr("kernel is ''"));
  EXPECT_EQ(found[1].line, 4);
  ASSERT_EQ(rows.kernels.size(), 1u);
  EXPECT_EQ(rows.kernels[0].kernel, "nvjet_sm90_tst_256x128_64x4_1x2_h");
  EXPECT_TRUE(rows.gemm.empty());
  EXPECT_TRUE(rows.files.at(0).kernel_names);
  EXPECT_EQ(rows.files[0].rows, 1);
  EXPECT_EQ(rows.files[0].rejected, 5);
  // with times they are measured rows, whatever else they say
  EXPECT_TRUE(read_rows("m,n,k,kernel,ms\n2048,4096,4096,x,0.0976\n", "g.csv", sheet(), rows).empty());
  EXPECT_EQ(rows.gemm.size(), 1u);
  EXPECT_FALSE(rows.files.at(1).kernel_names);
}

TEST(Rows, AHeaderOfNoOperationOrNoUnitIsAnError) {
  MeasuredRows rows;
  EXPECT_EQ(read_rows("a,b,c\n1,2,3\n", "x.csv", sheet(), rows).at(0).code, "rows-columns-unknown");
  EXPECT_EQ(read_rows("m,n,k,minutes\n1,2,3,4\n", "x.csv", sheet(), rows).at(0).code, "rows-columns-unknown");
  EXPECT_EQ(read_rows("", "x.csv", sheet(), rows).at(0).code, "rows-columns-unknown");
}

TEST(Accuracy, FiguresByHand) {
  const std::vector<Judged> rows{
      {110, 100, 90, 120, 7}, {90, 100, 95, 99, 7}, {210, 200, 150, 250, 7}, {50, 100, 0, 0, 0}};
  const auto errors = accuracy(rows);
  EXPECT_DOUBLE_EQ(errors.mape_pct.value(), (10 + 10 + 5 + 50) / 4.0);
  EXPECT_DOUBLE_EQ(errors.bias_pct.value(), (10 - 10 + 5 - 50) / 4.0);
  EXPECT_DOUBLE_EQ(errors.coverage_pct.value(), 200.0 / 3);  // of the three rows that have a band
  EXPECT_EQ(errors.pairs.value(), 2);                        // 100 and 100 are no pair
  EXPECT_EQ(errors.pair_pct.value(), 100);
}

FeatureTable random_table(std::size_t rows, std::vector<double>& target) {
  FeatureTable table;
  table.columns = 3;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t f = 0; f < 3; ++f) {
      table.values.push_back(static_cast<float>(counter_random(f, i) % 1000));
    }
    target.push_back(table.values[3 * i] > 500 ? 1.0 : table.values[3 * i + 1] > 250 ? 0.5 : -1.0);
  }
  return table;
}

TEST(Boost, FindsStepsAndRepeatsItself) {
  std::vector<double> target;
  const FeatureTable table = random_table(2000, target);
  BoostOptions options;
  options.trees = 120;
  options.leaves = 6;
  options.models = 2;
  const Forest forest = boost(table, target, {}, options);
  double sum = 0;  // a threshold may fall a rank beside the step: a few rows are far off, not many
  for (std::size_t i = 0; i < table.rows(); ++i) sum += std::abs(evaluate(forest, table.row(i)) - target[i]);
  EXPECT_LT(sum / static_cast<double>(table.rows()), 0.03);
  std::string first, second;
  append_forest(forest, first);
  append_forest(boost(table, target, {}, options), second);
  EXPECT_EQ(first, second);
}

TEST(Boost, AStrayReadingPullsNoHarderThanAnyOtherWhereErrorsCountLinearly) {
  std::vector<double> target, plain;
  const FeatureTable table = random_table(2000, plain);
  for (double& value : plain) value *= 0.1;       // as residuals of a formula are
  for (std::size_t i = 0; i < plain.size(); ++i)  // one in seven took twice as long
    target.push_back(plain[i] + (counter_random(7, i) % 7 == 0 ? 0.7 : 0.0));
  BoostOptions options;
  options.trees = 300;
  options.leaves = 6;
  options.min_weight = 40;
  const auto off = [&](double soft) {
    options.soft = soft;
    const Forest forest = boost(table, target, {}, options);
    double sum = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) sum += std::abs(evaluate(forest, table.row(i)) - plain[i]);
    return sum / static_cast<double>(plain.size());
  };
  EXPECT_GT(off(0), 0.08);
  EXPECT_LT(off(0.05), 0.04);
}

TEST(Boost, WithoutUnusedCutsTwoForestsAnswerAsBefore) {
  std::vector<double> target;
  const FeatureTable table = random_table(2000, target);
  std::vector<double> other(target.size());
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = table.row(i)[2] > 300 ? 2.0 : 0.0;
  BoostOptions options;
  options.trees = 20;
  options.leaves = 6;
  const Forest first = boost(table, target, {}, options), second = boost(table, other, {}, options);
  Forest a = first, b = second;
  drop_unused_cuts(a, b);
  EXPECT_LT(a.cuts.size(), first.cuts.size());
  EXPECT_TRUE(same_thresholds(a, b));
  for (std::size_t i = 0; i < table.rows(); ++i) {
    EXPECT_EQ(evaluate(a, table.row(i)), evaluate(first, table.row(i)));
    EXPECT_EQ(evaluate(b, table.row(i)), evaluate(second, table.row(i)));
  }
}

TEST(Boost, TwoForestsOnTheSameThresholdsAreAdded) {
  std::vector<double> target;
  const FeatureTable table = random_table(1000, target);
  BoostOptions options;
  options.trees = 20;
  options.leaves = 6;
  const Forest first = boost(table, target, {}, options);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = 0.3 - evaluate(first, table.row(i));
  options.like = &first;
  const Forest second = boost(table, target, {}, options);
  ASSERT_TRUE(same_thresholds(first, second));
  const Forest both = sum_of(first, second);
  EXPECT_EQ(both.trees(), first.trees() + second.trees());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    EXPECT_NEAR(evaluate(both, table.row(i)), evaluate(first, table.row(i)) + evaluate(second, table.row(i)),
                1e-3);
  }
}

TEST(Minimise, FindsTheBottomOfRosenbrocksValley) {
  const auto valley = [](std::span<const double> x) {
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  const auto at = minimise(valley, {-1.2, 1.0}, {0.5, 0.5}, 800);
  EXPECT_NEAR(at[0], 1, 1e-3);
  EXPECT_NEAR(at[1], 1, 1e-3);
}

/// GEMMs whose times follow the formula with other constants, with 2 % of scatter.
MeasuredRows synthetic_gemms(std::uint64_t count = 240, double launch_us = 3.1) {
  MeasuredRows rows;
  const Machine machine = machine_of(sheet());
  const std::vector<double> truth{launch_us, .8, 2.2, .85, .02, .5, 150, 2, 1, .03, -.1};
  for (std::uint64_t i = 0; i < count; ++i) {
    const GemmShape shape{static_cast<std::int64_t>(1 + counter_random(1, i) % 4096),
                          static_cast<std::int64_t>(64 + 64 * (counter_random(2, i) % 128)),
                          static_cast<std::int64_t>(64 + 64 * (counter_random(3, i) % 128))};
    const double scatter = 1 + 0.02 * (static_cast<double>(counter_random(4, i) % 2001) / 1000 - 1);
    rows.gemm.push_back({shape, gemm_analytic(machine, truth, shape).us * scatter, 0, 0});
  }
  rows.files.push_back({"synthetic.csv", std::string(64, 'a'), "none", 400, 0});
  rows.kernels = {{{8, 64, 64}, "nvjet_64x8_64x16"}, {{16, 64, 64}, "nvjet_64x16_64x16"}};
  rows.files.push_back({"names.csv", std::string(64, 'c'), "none", 2, 0, true});
  return rows;
}

CalibrateOptions quick();

TEST(Calibrate, BesideASiblingAFewRowsAreEnough) {
  const auto sibling = calibrate(sheet(), synthetic_gemms(200), quick());
  ASSERT_TRUE(sibling.ok());
  const MeasuredRows few = synthetic_gemms(24, 4.0);  // another card: a launch takes longer
  EXPECT_EQ(calibrate(sheet(), few, quick()).diagnostics.at(0).code, "rows-none-usable");
  CalibrateOptions beside = quick();
  beside.sibling = &sibling.value->source;
  const auto fitted = calibrate(sheet(), few, beside);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted.value->source.gemm.rows, 24);
  double near = 0, unmoved = 0;
  const MeasuredRows all = synthetic_gemms(200, 4.0);
  for (const auto& row : all.gemm) {
    near += std::abs(predict_gemm(fitted.value->source, "", row.shape).ms * 1e3 / row.us - 1);
    unmoved += std::abs(predict_gemm(sibling.value->source, "", row.shape).ms * 1e3 / row.us - 1);
  }
  EXPECT_LT(near / 200, 0.05);
  EXPECT_LT(near, 0.7 * unmoved);
  // what nobody measured here is the sibling's on this sheet, and says that it was not measured
  EXPECT_EQ(fitted.value->source.misaligned.rows, 0);
}

CalibrateOptions quick() {
  CalibrateOptions options;
  options.source = "quick";
  options.effort = 0.05;
  options.keep_rows = true;
  return options;
}

/// The synthetic rows fitted, once for all tests: a fit is what takes the time here.
const auto& fitted_once() {
  static const auto fitted = calibrate(sheet(), synthetic_gemms(), quick());
  return fitted;
}

TEST(Calibrate, SameRowsSameBytesAndTheFileReadsBack) {
  const MeasuredRows rows = synthetic_gemms();
  const auto& first = fitted_once();
  ASSERT_TRUE(first.ok());
  const auto files = write_kernel_source(first.value->source, "t");
  const auto second = write_kernel_source(calibrate(sheet(), rows, quick()).value->source, "t");
  EXPECT_EQ(files.toml, second.toml);
  EXPECT_EQ(files.residuals, second.residuals);
  EXPECT_LT(first.value->folds.at(0).errors.mape_pct.value(), 4);

  const std::string folder = testing::TempDir() + "plumbline_calibrate_test";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/" + files.residuals_name, files.residuals).empty());
  Hardware hardware = *load_hardware("h200", kDirectories).value;
  hardware.sources.clear();
  const auto read = parse_hardware(write_hardware(hardware) + files.toml, folder + "/t.toml", folder);
  ASSERT_TRUE(read.ok()) << read.diagnostics.at(0).message;
  const KernelSource& source = *read.value->sources.at(0);
  for (const auto& row : rows.gemm) {
    EXPECT_EQ(predict_gemm(source, "", row.shape).ms, predict_gemm(first.value->source, "", row.shape).ms);
    EXPECT_TRUE(kept_measurement(source, shape_key(row.shape)));
  }
  EXPECT_FALSE(kept_measurement(source, shape_key(GemmShape{7, 77, 777})));

  EXPECT_EQ(find_kernel(source.kernels, shape_key(GemmShape{16, 64, 64})), "nvjet_64x16_64x16");
  EXPECT_EQ(find_kernel(source.kernels, shape_key(GemmShape{17, 64, 64})), "");
  EXPECT_FALSE(source.rows.at(0).kernel_names);
  EXPECT_TRUE(source.rows.at(1).kernel_names);
  EXPECT_EQ(source.rows.at(1).sha256, std::string(64, 'c'));

  // damage that the hash does not show, because it was computed after it
  const std::string hash = sha256_hex(files.residuals);
  const auto code = [&](const std::string& bytes) {
    EXPECT_TRUE(write_file(folder + "/" + files.residuals_name, bytes).empty());
    std::string toml = files.toml;
    toml.replace(toml.find(hash), hash.size(), sha256_hex(bytes));
    const auto parsed = parse_hardware(write_hardware(hardware) + toml, folder + "/t.toml", folder);
    return parsed.ok() ? "fine" : parsed.diagnostics.at(0).code;
  };
  EXPECT_EQ(code(files.residuals), "fine");
  EXPECT_EQ(code(files.residuals + "x"), "residuals-invalid");
  for (std::size_t size = 0; size < files.residuals.size();
       size += size + 100 < files.residuals.size() ? 97 : 1)
    ASSERT_EQ(code(files.residuals.substr(0, size)), "residuals-invalid") << size;
}

TEST(Calibrate, RowsOfTheCalibrationAreRefusedInValidation) {
  const MeasuredRows rows = synthetic_gemms();
  const auto& fitted = fitted_once();
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(refuse_seen_rows(fitted.value->source, rows).at(0).code, "rows-seen");
  MeasuredRows other = rows;
  other.files[0].sha256 = std::string(64, 'b');
  EXPECT_EQ(refuse_seen_rows(fitted.value->source, other).at(0).code, "rows-seen");  // names count too
  other.files[1].sha256 = std::string(64, 'd');
  EXPECT_TRUE(refuse_seen_rows(fitted.value->source, other).empty());
}

TEST(Calibrate, TooFewRowsAreRefused) {
  MeasuredRows rows = synthetic_gemms();
  rows.gemm.resize(20);
  EXPECT_EQ(calibrate(sheet(), rows, quick()).diagnostics.at(0).code, "rows-none-usable");
}

TEST(Folds, NeverPartASite) {
  EXPECT_EQ(site_of(GemmShape{1, 4096, 512}), site_of(GemmShape{999, 4096, 512}));
  EXPECT_NE(site_of(GemmShape{1, 4096, 512}), site_of(GemmShape{1, 512, 4096}));
  std::array<int, 5> count{};
  for (std::int64_t n = 0; n < 5000; ++n)
    ++count[static_cast<std::size_t>(fold_of(site_of(GemmShape{1, n + 1, 64}), 5))];
  for (const int c : count) EXPECT_NEAR(c, 1000, 150);
}

}  // namespace
}  // namespace plumbline
