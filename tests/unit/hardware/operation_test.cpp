// SPDX-License-Identifier: Apache-2.0
// Operations beyond the bf16 GEMM and attention: rows in, a fitted operation out, and back from its file.
#include "plumbline/model/operation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/hardware/calibrate.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/operation_file.h"
#include "plumbline/hardware/operation_rows.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/measured_moe.h"

namespace plumbline {
namespace {

const std::vector<std::string> kDirectories{PLUMBLINE_SOURCE_DIR "/hardware"};
DataSheet sheet() { return load_hardware("h200", kDirectories).value->sheet; }

/// Two kernels at each message: one twice as slow to launch. Both move 200 bytes a nanosecond.
std::string collective_rows() {
  std::string text = "op,dtype,gpus,message,kernel,ms\n";
  for (const int gpus : {2, 4, 8}) {
    for (int power = 7; power < 28; ++power) {
      const double bytes = 2.0 * (1 << power), n = gpus;
      for (const auto& [kernel, launch] : {std::pair{"graph", 6.0}, std::pair{"NCCL 2.99", 12.0}}) {
        text += fmt::format("all_reduce,bfloat16,{},{},{},{}\n", gpus, 1 << power, kernel,
                            1e-3 * (launch + 2 * bytes * (n - 1) / n / 200e3));
      }
    }
  }
  return text;
}

TEST(Operation, ACollectivesKernelsAreToldApartAndTheirCurvesFollowTheLink) {
  MeasuredRows rows;
  EXPECT_TRUE(read_rows(collective_rows(), "x_comm.csv", sheet(), rows).empty());
  EXPECT_EQ(rows.operations.size(), 126u);
  const auto fitted = calibrate(sheet(), rows, {});
  ASSERT_TRUE(fitted.ok());
  const auto ask = [&](std::int64_t elements, const char* kernel) {
    KernelRequest request{CollectiveShape{CollectiveOp::all_reduce, 4, elements, 2}};
    request.kernel = kernel;
    return predict_kernel(fitted.value->source, "", request);
  };
  // sizes between those measured, which hold powers of two alone
  EXPECT_NEAR(ask(3000, "graph").ms, 0.00605, 0.0004);
  EXPECT_NEAR(ask(3000, "NCCL 2.99").ms, 0.01205, 0.0008);
  EXPECT_NEAR(ask(50'000'000, "graph").ms, 0.756, 0.05);
  EXPECT_EQ(ask(3000, "").ms, ask(3000, "graph").ms);  // unnamed: the fastest
  EXPECT_EQ(ask(3000, "graph").provenance, Provenance::interpolated);
  EXPECT_EQ(ask(1'000'000'000, "graph").provenance, Provenance::extrapolated);
  const auto unknown = check_request(fitted.value->source, {CollectiveShape{}, "mscclpp"});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].code, "kernel-not-measured");
}

TEST(Operation, WhatNobodyMeasuredSaysSo) {
  const auto source = specification_source(sheet());
  const KernelRequest request{MoeShape{256, 4096, 1536, 8, 128}};
  const auto found = check_request(*source, request);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "operation-not-measured");
  EXPECT_EQ(predict_kernel(*source, "", request).provenance, Provenance::specification);
}

TEST(Operation, AFormatStandsInTheFilesNameOrItsColumn) {
  EXPECT_EQ(formats_in("h9_fast_1.0_gemm_fp8_block.csv.gz").dtype, Dtype::fp8_block);
  EXPECT_EQ(formats_in("h9_fast_1.0_moe_w4a16_mxfp4.csv").dtype, Dtype::w4a16_mxfp4);
  EXPECT_EQ(formats_in("h9_decode_attn_bf16_kv_fp8.csv").kv_dtype, Dtype::fp8);
  EXPECT_EQ(formats_in("gemm.csv").dtype, Dtype::bf16);
  const auto asked = read_asked_rows("m,n,k,dtype\n16,256,512,nvfp4\n", "a.csv", "gemm");
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(key_of((*asked.value)[0].operation.shape), (OperationKey{OperationKind::gemm, Dtype::nvfp4}));
}

TEST(Operation, EveryNameIsFoundAgain) {
  for (const OperationKey key :
       {OperationKey{OperationKind::gemm, Dtype::fp8_block}, OperationKey{OperationKind::decode, Dtype::fp8},
        OperationKey{OperationKind::moe, Dtype::int4_wo},
        OperationKey{OperationKind::mla_decode, Dtype::bf16}})
    EXPECT_EQ(find_operation_key(name_of(key)), key);
  EXPECT_FALSE(find_operation_key("gemm_fp12"));
}

TEST(Operation, ExpertsAwakeAndRowsOfARank) {
  MoeShape s{4, 2048, 768, 8, 128};
  EXPECT_DOUBLE_EQ(expert_load(s).active, 32);  // 4 tokens take 8 experts each, all different
  s.tokens = 64;
  EXPECT_DOUBLE_EQ(expert_load(s).active, 128);
  EXPECT_DOUBLE_EQ(expert_load(s).rows, 512);
  s.ep = 4;
  EXPECT_DOUBLE_EQ(expert_load(s).rows, 128);
  const ExpertLoad even = expert_load(s);
  s.routing = Routing::power_law_1_2;
  const ExpertLoad skewed = expert_load(s);
  EXPECT_GT(skewed.rows, even.rows);  // the busiest rank is measured
  EXPECT_GT(skewed.max_rows, 2 * even.max_rows);
  EXPECT_LT(skewed.active, even.active);
}

TEST(Operation, TheFileOfAnOperationAnswersTheSame) {
  MeasuredRows rows;
  read_rows(collective_rows(), "x_comm.csv", sheet(), rows);
  const auto fitted = calibrate(sheet(), rows, {});
  ASSERT_TRUE(fitted.ok());
  const Operation& operation = *fitted.value->source.operations.at(0);
  const std::string bytes = operation_bytes(operation);
  const std::string path = testing::TempDir() + "/operation.bin";
  ASSERT_TRUE(write_file(path, bytes).empty());
  const auto back = read_operation(path, sha256_hex(bytes), operation.key, operation.kernels.size());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value->curves.size(), operation.trees->curves.size());
  EXPECT_EQ(back.value->curves[0].us_per_byte, operation.trees->curves[0].us_per_byte);
  const auto other = read_operation(path, sha256_hex("x"), operation.key, operation.kernels.size());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.diagnostics[0].code, "residuals-invalid");
  const std::string cut = bytes.substr(0, bytes.size() - 3);
  ASSERT_TRUE(write_file(path, cut).empty());
  EXPECT_FALSE(read_operation(path, sha256_hex(cut), operation.key, operation.kernels.size()).ok());
}

}  // namespace
}  // namespace plumbline
