// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "plumbline/table/kernel_table.h"

namespace plumbline {
namespace {

struct Case {
  const char* name;
  const char* identity;
};

TEST(KernelIdentity, IsTheLastNameComponentWhateverTheProfilerPrints) {
  const Case cases[] = {
      {"main", "main"},
      {"void at::native::elementwise_kernel<4, F>(int, F)", "elementwise_kernel"},
      {"void at::elementwise_kernel<128, 4, void at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda("
       "at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda() (instance 12)]>"
       "(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
       "elementwise_kernel"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::"
       "OpaqueType<4u>, unsigned int, 1>(at::native::(anonymous namespace)::OpaqueType<4u>*, int)",
       "CatArrayBatchedCopy"},
      {"<unnamed>::saxpy_kernel(float, const float *)", "saxpy_kernel"},
      {"unnamed>::saxpy_kernel(float, const float *, float *, int)", "saxpy_kernel"},
      {"void unnamed>::transpose_tiled_kernel<32>(const float *, float *, int, int)",
       "transpose_tiled_kernel"},
      {"(anonymous namespace)::f(int)", "f"},
      {"_Z14transpose_copyPKfPf", "transpose_copy"},
      {"_ZN2at6native18elementwise_kernelILi128ELi4EEEvi", "elementwise_kernel"},
      {"copy_blocked[v1,cw51cXTLSUwv1sDUaKthrqNgqq](Array<long long, 1, C, mutable, aligned>, long long)",
       "copy_blocked"},
      {"cudapy::__main__::add$241(Array<float, 1, C, mutable, aligned>)", "add"},
      {"triton_poi_fused_add_cos_sin_0", "triton_poi_fused_add_cos_sin_0"},
      {"cutlass3x_sm100_tensorop_s64x256x32gemm_f8_tnn_align4_1sm",
       "cutlass3x_sm100_tensorop_s64x256x32gemm_f8_tnn_align4_1sm"},
      {"kernel_flash_fwd_object_at_0x7f12ab34cd00_tensor000", "kernel_flash_fwd_object_at_tensor000"},
      {"std::enable_if<(4 > 2), void>::type ns::conv<float, (int)3>(ns::Params<float>)", "conv"},
      {"void f<(a > b)>(int)", "f"},
      {"void cub::DeviceReduceKernel<cub::Policy<int>::Max, float *>(float *) [clone .isra.0]",
       "DeviceReduceKernel"},
      {"ns::Matrix::operator()(int) const", "operator()"},
      {"void ns::apply<ns::op, &ns::op::operator< >(int)", "apply"},
      {"combine<a, transpose_copy_layout>(int)", "combine"},
      {"", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(kernel_identity(c.name), c.identity) << c.name;
}

/// kernel_names.txt: an identity in column 1, and below it the names that have it; "~" marks a cut one.
TEST(KernelIdentity, OfNamesAsProfilersPrintThem) {
  std::ifstream list(std::string(PLUMBLINE_SOURCE_DIR) + "/tests/unit/table/kernel_names.txt");
  std::string identity;
  int names = 0;
  int kernels = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (!line.starts_with("  ")) {
      identity = line;
      ++kernels;
      if (identity.find("...") == std::string::npos && identity.find("\xE2\x80\xA6") == std::string::npos) {
        EXPECT_EQ(kernel_identity(identity), identity);
      }
      continue;
    }
    const bool cut = line.starts_with("  ~ ");
    const std::string name = line.substr(cut ? 4 : 2);
    EXPECT_EQ(kernel_identity(name), identity) << name;
    EXPECT_EQ(is_truncated_name(name), cut) << name;
    ++names;
  }
  EXPECT_GE(names, 300);
  EXPECT_GE(kernels, 250);
}

TEST(KernelIdentity, HostileNamesStaySmallAndQuick) {
  std::string doubling = "_Z1f";  // each part holds the one before twice: 2^60 characters when written out
  doubling += "St4pairIiiE";
  for (int i = 0; i < 60; ++i)
    doubling += "S_IS" + std::to_string(i % 10) + "_S" + std::to_string(i % 10) + "_E";
  EXPECT_LT(demangled(doubling).size(), 64U << 20);
  EXPECT_EQ(kernel_identity(doubling), "f");
  EXPECT_FALSE(kernel_identity(std::string(20'000, '<')).empty());
  EXPECT_FALSE(kernel_identity(std::string(20'000, '(') + "::").empty());
  EXPECT_FALSE(kernel_identity("_Z99999999999999999999x").empty());
}

TEST(TruncatedName, IsSeenByItsEndOrItsOpenBracket) {
  EXPECT_TRUE(is_truncated_name("flash_bwd_dq_dk_dv_loop_seqk_..."));
  EXPECT_TRUE(is_truncated_name("flash_bwd…"));
  EXPECT_TRUE(is_truncated_name("void at::elementwise_kernel<128, 4, void at::gpu_ke"));
  EXPECT_FALSE(is_truncated_name("void at::elementwise_kernel<128, 4>(int)"));
  EXPECT_FALSE(is_truncated_name("unnamed>::saxpy_kernel(float)"));
  EXPECT_FALSE(is_truncated_name("ns::Matrix::operator<(int)"));
}

}  // namespace
}  // namespace plumbline
