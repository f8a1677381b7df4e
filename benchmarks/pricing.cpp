// SPDX-License-Identifier: Apache-2.0
// Pricing 200 kernels a side with three entries, regex compilation included.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>

#include "plumbline/contract/parse.h"
#include "plumbline/pricing/credit.h"

namespace plumbline {
namespace {

/// 200 different names, 30 to 250 bytes long, of the kinds that profilers print.
KernelTable table_of_200(bool student) {
  constexpr std::array<std::string_view, 8> kNames = {
      "void at::native::vectorized_elementwise_kernel<{0}, at::native::CUDAFunctor_add<c10::BFloat16>, "
      "at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
      "at::detail::Array<char*, 3>)",
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x{0}x64_warpgroupsize1x1x1_execute_segment_k_off_"
      "kernel",
      "triton_poi_fused_add_mul_silu_{0}",
      "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, "
      "false, false, "
      "cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, cutlass::bfloat16_t> >, false, "
      "{0}>(Flash_bwd_params)",
      "nvjet_tst_{0}x208_64x4_2x1_v_bz_TNN",
      "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align{0}>(Params)",
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<OpaqueType<2u>, unsigned "
      "int, {0}, 128, 1>",
      "_chunk_state_passing_fwd_kernel_{0}"};
  KernelTable table;
  table.calls = 2;
  for (int i = 0; i < 200; ++i) {
    KernelRow& row = table.kernels.emplace_back();
    row.name = fmt::format(fmt::runtime(kNames[static_cast<std::size_t>(i) % kNames.size()]), i);
    row.launches = 2;
    row.time_ns = 2000.0 * (200 - i);
  }
  table.kernels[7].name =
      student ? "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>, true>(Flash_fwd_params)"
              : "transpose_copy";
  for (const KernelRow& row : table.kernels) table.total_ns += row.time_ns;
  table.time_ns_per_call = table.total_ns / 2;
  return table;
}

WindowContract contract_of(std::string_view student_a, std::string_view student_b,
                           std::string_view reference) {
  const std::string text = fmt::format(
      "[reference]\nwindow = \"call\"\ninputs = [\"q\", \"out\", \"lse\"]\noutputs = [\"dq\"]\n"
      "[student]\nwindow = \"call\"\ninputs = [\"q\", \"layout\"]\noutputs = [\"dq\"]\n"
      "[[asymmetry]]\nref_input = \"out\"\nclass = \"price\"\nstudent_kernel_regex = '{}'\n"
      "[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\nstudent_kernel_regex = '{}'\n"
      "[[asymmetry]]\nstudent_input = \"layout\"\nclass = \"price\"\nref_kernel_regex = '{}'\n",
      student_a, student_b, reference);
  return std::move(*parse_contract(text, "window.toml").value);
}

struct Sides {
  KernelTable student = table_of_200(true);
  KernelTable reference = table_of_200(false);
  SideInput student_input = side_input(&student, *student.time_ns_per_call / 1e6 * 1.02);
  SideInput reference_input = side_input(&reference, *reference.time_ns_per_call / 1e6 * 1.02);
};

void price(benchmark::State& state, const WindowContract& contract) {
  const Sides sides;
  if (!price_credit(contract, sides.student_input, sides.reference_input)->usable())
    state.SkipWithError("not usable");
  for (auto _ : state) {
    auto credit = price_credit(contract, sides.student_input, sides.reference_input);
    auto times = credited_times(*credit, sides.student_input.reading_ms, sides.reference_input.reading_ms);
    benchmark::DoNotOptimize(times);
  }
}

void BM_PricePlainNames(benchmark::State& state) {
  price(state, contract_of("flash_fwd", "flash_fwd", "transpose_copy"));
}
void BM_PriceRegexes(benchmark::State& state) {
  price(state, contract_of(R"(flash_fwd(?:_splitkv)?_kernel<)", R"(\bflash_fwd_\w+)", R"(^transpose_copy$)"));
}
/// No text that every match must hold: each name goes through PCRE2.
void BM_PriceRegexesWithoutLiterals(benchmark::State& state) {
  price(state, contract_of(R"((?i)flash_FWD)", R"([fF]lash_?[fF]wd)", R"(^\w+e_copy$)"));
}
void BM_Warnings(benchmark::State& state) {
  const Sides sides;
  const WindowContract contract = contract_of("flash_fwd", R"(\bflash_fwd_\w+)", R"(^transpose_copy$)");
  for (auto _ : state)
    benchmark::DoNotOptimize(credit_warnings(contract,
                                             match_entries(contract, &sides.student, &sides.reference),
                                             &sides.student, &sides.reference));
}

BENCHMARK(BM_PricePlainNames)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PriceRegexes)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PriceRegexesWithoutLiterals)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Warnings)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plumbline

BENCHMARK_MAIN();
