// SPDX-License-Identifier: Apache-2.0
// The recorded comparison, and real files of other projects where they lie beside this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "plumbline/profile/import.h"

namespace plumbline {
namespace {

const std::string kData = std::string(PLUMBLINE_SOURCE_DIR) + "/tests/data/h200_attention_backward/";
const std::string kPublic = std::string(PLUMBLINE_SOURCE_DIR) + "/../shared/fixtures/public/";

KernelTable imported(const std::string& path, const ImportOptions& options = {}) {
  const auto table = import_profile(path, options);
  for (const Diagnostic& d : table.diagnostics) {
    EXPECT_NE(d.severity, Severity::error) << format_diagnostic(d);
  }
  EXPECT_TRUE(table.ok()) << path;
  return table.value.value_or(KernelTable{});
}

std::string refusal(const std::string& path) {
  const auto table = import_profile(path);
  EXPECT_FALSE(table.ok()) << path;
  return table.diagnostics.empty() ? std::string() : table.diagnostics.back().code;
}

void expect_accounted(const KernelTable& t) {
  EXPECT_EQ(t.account.rows, t.account.kept + t.account.dropped + t.account.ignored);
  EXPECT_GT(t.account.kept, 0);
  double sum = 0;
  for (const KernelRow& row : t.kernels) sum += row.time_ns;
  EXPECT_EQ(sum, t.total_ns);
}

TEST(RecordedRun, EveryNcuFileGivesTheSameKernels) {
  for (const char* side : {"ref", "stu"}) {
    const KernelTable t = imported(kData + side + ".ncu.csv");
    expect_accounted(t);
    EXPECT_EQ(t.calls, 2);
    EXPECT_EQ(t.device, "NVIDIA H200");
    EXPECT_EQ(t.dominant, "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel");
    EXPECT_TRUE(t.kernels[0].tensor_pct.has_value());
    EXPECT_FALSE(t.lossy);
    expect_accounted(imported(kData + side + ".raw.csv"));
  }
  EXPECT_EQ(imported(kData + "ref.ncu.csv").total_ns, 930592);
  EXPECT_EQ(imported(kData + "stu.ncu.csv").total_ns, 1262208);
}

// benchmarks/gpu/same_kernels.py recorded one program by five tools on one GPU.
TEST(RecordedRun, FiveToolsSawTheSameKernelsAsOften) {
  ImportOptions options;
  options.calls = 10;
  const std::string folder = std::string(PLUMBLINE_SOURCE_DIR) + "/tests/data/h200_same_kernels/";
  std::map<std::string, KernelRow> first;
  for (const char* file : {"recorder.json", "torch.json.gz", "proton.hatchet", "ncu.csv.gz", "ncu.txt.gz"}) {
    const KernelTable t = imported(folder + file, options);
    expect_accounted(t);
    EXPECT_FALSE(t.lossy) << file;
    EXPECT_EQ(t.calls, 10) << file;
    EXPECT_EQ(t.kernels.size(), 9U) << file;
    for (const KernelRow& row : t.kernels) {
      const KernelRow& same = first.try_emplace(row.identity, row).first->second;
      EXPECT_EQ(row.launches, same.launches) << file << " " << row.identity;
      EXPECT_NEAR(row.time_ns, same.time_ns, 0.13 * same.time_ns) << file << " " << row.identity;
    }
  }
  EXPECT_EQ(first.size(), 9U);
}

TEST(RecordedRun, DetailsAndBaseUnitsAgreeWithinTheRoundingOfTheDetails) {
  const KernelTable details = imported(kData + "stu.details.csv");
  const KernelTable base = imported(kData + "stu.rawbase.csv");
  ASSERT_EQ(details.kernels.size(), base.kernels.size());
  for (std::size_t i = 0; i < base.kernels.size(); ++i) {
    EXPECT_EQ(details.kernels[i].name, base.kernels[i].name);
    EXPECT_EQ(details.kernels[i].launches, base.kernels[i].launches);
    EXPECT_NEAR(details.kernels[i].time_ns, base.kernels[i].time_ns,
                5.0 * static_cast<double>(base.kernels[i].launches));
  }
}

TEST(RecordedRun, ALogHasNoTimesAndItsTextPageHas) {
  EXPECT_EQ(refusal(kData + "stu.log"), "ncu-no-table");
  const KernelTable page = imported(kData + "stu.details.txt");
  EXPECT_EQ(page.source, "ncu-text");
  EXPECT_EQ(page.dominant, "flash_fwd_kernel");
  EXPECT_EQ(page.total_ns, 175490);
  expect_accounted(page);
}

TEST(RecordedRun, RawPageAndTraceGiveTheSameIdentitiesAndLaunchesPerCall) {
  for (const char* side : {"ref", "stu"}) {
    const KernelTable raw = imported(kData + side + ".raw.csv");
    const KernelTable trace = imported(kData + side + ".trace.json");
    expect_accounted(trace);
    EXPECT_EQ(trace.calls, 3);
    EXPECT_GT(*trace.gaps_ns, 0);
    EXPECT_EQ(*trace.busy_ns, trace.total_ns);
    const auto per_call = [](const KernelTable& t) {
      std::map<std::string, std::int64_t> out;
      for (const KernelRow& row : t.kernels) out[row.identity] += row.launches / t.calls.value();
      return out;
    };
    EXPECT_EQ(per_call(raw), per_call(trace));
  }
  EXPECT_EQ(imported(kData + "stu.trace.json").total_ns, 1881781);  // the sum of the trace's own digits
}

TEST(PublicFiles, TorchTracesImportOrAreRefusedForTheRightReason) {
  if (!std::filesystem::exists(kPublic)) GTEST_SKIP() << "no " << kPublic;
  struct Expected {
    const char* file;
    const char* refusal;  ///< "": it imports
    double total_ns;
    std::int64_t launches;
  };
  const Expected files[] = {{"hta_amd_mi250_rocm.pt.trace.json", "", 110881, 14},
                            {"hta_cpu_only_no_kernels.pt.trace.json", "import-no-kernels", 0, 0},
                            {"hta_cuda_event_sync.pt.trace.json", "", 49000, 4},
                            {"hta_cuda_event_sync.pt.trace.json.gz", "", 49000, 4},
                            {"hta_cuda_graph_shared_correlation_trimmed.pt.trace.json", "", 22587000, 22},
                            {"hta_cupti_profiler_range_trimmed.pt.trace.json", "import-no-kernels", 0, 0},
                            {"hta_minimal_no_schema.pt.trace.json", "", 432000, 6},
                            {"hta_nccl_collectives_trimmed.pt.trace.json", "", 47928514, 51},
                            {"hta_negative_queue_trimmed.pt.trace.json", "", 322000, 80},
                            {"hta_ns_resolution_abs19digits_trimmed.pt.trace.json", "", 6430844, 40},
                            {"hta_old_capital_Kernel_cat.pt.trace.json", "", 30000, 4},
                            {"hta_simple_add_int_us.pt.trace.json", "", 16000, 4},
                            {"hta_triton_ns_basetime.pt.trace.json", "", 1760, 1}};
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kPublic + "torch"))
    seen += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(seen, std::size(files)) << "a file without an expectation";
  for (const Expected& file : files) {
    const std::string path = kPublic + "torch/" + file.file;
    if (*file.refusal != '\0') {
      EXPECT_EQ(refusal(path), file.refusal) << path;
      continue;
    }
    const KernelTable t = imported(path);
    expect_accounted(t);
    std::int64_t launches = 0;
    for (const KernelRow& row : t.kernels) launches += row.launches;
    EXPECT_EQ(launches, file.launches) << path;
    EXPECT_EQ(t.total_ns, file.total_ns) << path;
    EXPECT_LE(*t.busy_ns, t.total_ns + 1000.0 * static_cast<double>(launches)) << path;
  }
  ImportOptions steps;
  steps.range = "ProfilerStep#";
  EXPECT_EQ(imported(kPublic + "torch/hta_amd_mi250_rocm.pt.trace.json", steps).calls,
            std::nullopt);  // two steps, one launches
}

TEST(PublicFiles, NsysExportsImportOrAreRefusedForTheRightReason) {
  if (!std::filesystem::exists(kPublic)) GTEST_SKIP() << "no " << kPublic;
  const KernelTable saxpy = imported(kPublic + "nsys/nsys2022.2_a100_mpi_saxpy_trimmed.sqlite");
  expect_accounted(saxpy);
  EXPECT_EQ(saxpy.total_ns, 88573480);
  EXPECT_EQ(saxpy.calls, 5);
  EXPECT_EQ(saxpy.device, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(saxpy.memcpy->count, 15);
  EXPECT_FALSE(saxpy.lossy);
  ImportOptions range;
  range.range = "saxpy";
  const KernelTable ranged = imported(kPublic + "nsys/nsys2022.2_a100_mpi_saxpy_trimmed.sqlite", range);
  EXPECT_EQ(ranged.calls, 5);
  EXPECT_EQ(ranged.total_ns, saxpy.total_ns);
  const KernelTable cupy = imported(kPublic + "nsys/nsys2025.3_t4_cupy_trimmed.sqlite");
  expect_accounted(cupy);
  EXPECT_FALSE(cupy.lossy);  // "might", and every launch has its kernel
  EXPECT_EQ(cupy.account.kept, 250);
  EXPECT_EQ(refusal(kPublic + "nsys/pipit_nbody_nvtxpptrace.csv"), "nsys-other-report");
}

TEST(PublicFiles, NcuFilesImportOrAreRefusedForTheRightReason) {
  if (!std::filesystem::exists(kPublic)) GTEST_SKIP() << "no " << kPublic;
  const KernelTable blocked = imported(kPublic + "ncu/nsightful_copy_blocked_details.csv");
  EXPECT_EQ(blocked.total_ns, 21058944);
  EXPECT_EQ(blocked.dominant, "copy_blocked");
  EXPECT_EQ(imported(kPublic + "ncu/superbench_cublaslt_b200_baseunits.log").total_ns, 406240);
  EXPECT_EQ(imported(kPublic + "ncu/roofline_gemm_naive_bom_crlf.csv").total_ns, 9589248);
  EXPECT_EQ(imported(kPublic + "ncu/roofline_saxpy_bom_crlf.csv").total_ns, 292928);
  EXPECT_EQ(imported(kPublic + "ncu/roofline_transpose_tiled_bom_crlf.csv").dominant,
            "transpose_tiled_kernel");
  EXPECT_EQ(refusal(kPublic + "ncu/nsightful_copy_blocked_text_page.txt"), "ncu-text-page");
  const KernelTable console = imported(kPublic + "ncu/gpumode_ncu_logs_console_trimmed.txt");
  EXPECT_TRUE(console.lossy);  // its log names 17 launches, and it was trimmed to two pages
  EXPECT_EQ(console.total_ns, 25310);
}

}  // namespace
}  // namespace plumbline
