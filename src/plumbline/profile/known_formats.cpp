// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/known_formats.h"

#include <array>

#include "plumbline/base/text.h"

namespace plumbline::profile {
namespace {

struct Known {
  std::string_view sign;  ///< the end of the file's name, or a text in its front
  std::string_view is;    ///< what it is, and the command
};

constexpr auto kByName = std::to_array<Known>({
    {".nsys-rep",
     "a report of Nsight Systems: export it first (nsys export --type sqlite FILE, or nsys stats -r "
     "cuda_gpu_trace "
     "--format csv FILE)"},
    {".qdrep", "a report of an older Nsight Systems: export it first (nsys export --type sqlite FILE)"},
    {".qdstrm", "an unfinished report of Nsight Systems: nsys-ui or QdstrmImporter makes a .nsys-rep of it"},
    {".ncu-rep",
     "a report of Nsight Compute: print it first (ncu --import FILE --csv --page raw --print-units base)"},
    {".nvvp", "a profile of nvprof: print it first (nvprof --import-profile FILE --print-gpu-trace --csv)"},
    {".nvprof", "a profile of nvprof: print it first (nvprof --import-profile FILE --print-gpu-trace --csv)"},
    {".xplane.pb",
     "a profile of XLA as a protocol buffer: record it with jax.profiler.start_trace(DIR, "
     "create_perfetto_trace=True) and import perfetto_trace.json.gz, or save trace.json.gz from "
     "TensorBoard's trace "
     "viewer"},
    {".pftrace", "a Perfetto trace in binary form: rocprofv3 --output-format csv writes tables"},
    {".perfetto-trace", "a Perfetto trace in binary form: rocprofv3 --output-format csv writes tables"},
    {".otf2", "an OTF2 trace: rocprofv3 --output-format csv writes tables"},
    {".rpd", "a profile of rocmProfileData: rocprofv3 --kernel-trace --output-format csv writes tables"},
    {".parquetdir", "an export of Nsight Systems as Parquet: nsys export --type sqlite FILE.nsys-rep"},
    {".arrow", "an export of Nsight Systems as Arrow: nsys export --type sqlite FILE.nsys-rep"},
    {".h5", "an export of Nsight Systems as HDF5: nsys export --type sqlite FILE.nsys-rep"},
    {".msgpack", "Proton's profile in MessagePack: finalize Proton with output_format=\"hatchet\""},
    {".hatchet_msgpack", "Proton's profile in MessagePack: finalize Proton with output_format=\"hatchet\""},
});

constexpr auto kByText = std::to_array<Known>({
    {"\"rocprofiler-sdk-tool\"",
     "rocprofv3's JSON: rocprofv3 --kernel-trace --output-format csv writes a table"},
    {"Self CUDA %",
     "a printed table of PyTorch's profiler, with rounded times: prof.export_chrome_trace(\"trace.json\")"},
    {"Start (ns)\t", "a table of nsys stats with tabs: nsys stats --format csv"},
    {"Total Time (ns)\t", "a table of nsys stats with tabs: nsys stats --format csv"},
    {"Start (ns);",
     "a table of nsys stats that another program saved with semicolons: nsys stats --format csv"},
    {"Total Time (ns);",
     "a table of nsys stats that another program saved with semicolons: nsys stats --format csv"},
    {"\"Total Time (ns)\":", "nsys stats as JSON: nsys stats --format csv"},
    {"\"Duration (ns)\":", "nsys stats as JSON: nsys stats --format csv"},
    {"gpu__time_duration.sum;",
     "Nsight Compute's table that another program saved with semicolons: ncu --csv"},
    {"GPU activities:", "nvprof's text: nvprof --csv"},
});

}  // namespace

std::string guess_format(std::string_view head, const std::string& path) {
  if (head.empty()) return "the file is empty";
  const std::string name = to_lower(path);
  const std::string_view bare =
      name.ends_with(".gz") ? std::string_view(name).substr(0, name.size() - 3) : name;
  for (const Known& known : kByName) {
    if (bare.ends_with(known.sign)) return std::string(known.is);
  }
  if (bare.ends_with("xplane.pb")) return std::string(kByName[6].is);
  for (const Known& known : kByText) {
    if (head.find(known.sign) != std::string_view::npos) return std::string(known.is);
  }
  if (head.starts_with("\x89HDF")) return "an HDF5 file: nsys export --type sqlite FILE.nsys-rep";
  if (head.starts_with("PAR1")) return "a Parquet file: nsys export --type sqlite FILE.nsys-rep";
  if (head.starts_with("ARROW1")) return "an Arrow file: nsys export --type sqlite FILE.nsys-rep";
  if (head.find('\0') != std::string_view::npos) return "a binary file of no known format";
  return "no importer knows this file";
}

}  // namespace plumbline::profile
