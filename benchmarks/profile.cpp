// SPDX-License-Identifier: Apache-2.0
// How quickly each importer reads, on one core. tools/make_big_profile.py writes the files (the same bytes
// every time).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "plumbline/profile/import.h"

namespace {

using namespace plumbline;

/// A file of this kind, written once a run and removed at its end.
class BigFile {
 public:
  BigFile(const std::string& kind, const std::string& size)
      : path_(std::filesystem::temp_directory_path() / fmt::format("plumbline-bench-{}-{}", getpid(), kind)) {
    const std::string command = fmt::format("/usr/bin/python3 {}/tools/make_big_profile.py {} {} {}",
                                            PLUMBLINE_SOURCE_DIR, kind, path_, size);
    if (std::system(command.c_str()) != 0) std::abort();  // NOLINT(concurrency-mt-unsafe): one thread
  }
  ~BigFile() { std::filesystem::remove(path_); }
  BigFile(const BigFile&) = delete;
  BigFile& operator=(const BigFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void import_file(benchmark::State& state, const BigFile& file) {
  std::int64_t rows = 0;
  for (auto _ : state) {
    const auto table = import_profile(file.path());
    if (!table.ok()) state.SkipWithError(table.diagnostics.back().message.c_str());
    rows += table.ok() ? table.value->account.rows : 0;
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::filesystem::file_size(file.path())));
  state.SetItemsProcessed(rows);
}

void ncu_raw(benchmark::State& state) {
  static const BigFile file("ncu-raw", "--mib 128");
  import_file(state, file);
}
void ncu_details(benchmark::State& state) {
  static const BigFile file("ncu-details", "--mib 128");
  import_file(state, file);
}
void torch_trace(benchmark::State& state) {
  static const BigFile file("torch", "--mib 128");
  import_file(state, file);
}
void nsys_sqlite(benchmark::State& state) {
  static const BigFile file("nsys", "--rows 1000000");
  import_file(state, file);
}
void identity(benchmark::State& state) {
  const std::string name =
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda(float)#1}>(at::TensorIteratorBase&, int)>(int)";
  for (auto _ : state) benchmark::DoNotOptimize(kernel_identity(name));
}

BENCHMARK(ncu_raw)->Unit(benchmark::kMillisecond);
BENCHMARK(ncu_details)->Unit(benchmark::kMillisecond);
BENCHMARK(torch_trace)->Unit(benchmark::kMillisecond);
BENCHMARK(nsys_sqlite)->Unit(benchmark::kMillisecond);
BENCHMARK(identity);

}  // namespace

BENCHMARK_MAIN();
