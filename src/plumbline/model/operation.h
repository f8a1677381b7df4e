// SPDX-License-Identifier: Apache-2.0
// Operations beyond the bf16 GEMM and attention of a source: one fitted model each, read when it is first
// asked.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/accuracy.h"
#include "plumbline/model/forest.h"
#include "plumbline/model/kernel_request.h"
#include "plumbline/model/operation_analytic.h"
#include "plumbline/model/prediction.h"

namespace plumbline {

struct FittedOp;
struct KernelSource;

/// Families of operations; one formula and one list of features each.
enum class OperationKind : std::uint8_t {
  gemm,
  prefill,
  decode,
  moe,
  grouped_gemm,
  mla_prefill,
  mla_decode,
  mla_attention_prefill,
  mla_attention_decode,
  collective
};
/// How many OperationKind there are.
inline constexpr std::size_t kOperationKinds = 10;

/// A family and the format that its rows share: of the weights, of attention's KV cache, else bf16.
struct OperationKey {
  OperationKind kind = OperationKind::gemm;
  Dtype dtype = Dtype::bf16;
  bool operator==(const OperationKey&) const = default;
};
/// "gemm_fp8", "prefill_kv_fp8", "moe_bf16", "mla_decode", "collective", ….
std::string name_of(const OperationKey& key);
/// The key of that name, or none.
std::optional<OperationKey> find_operation_key(std::string_view name);
/// The family and format of a shape.
OperationKey key_of(const KernelShape& shape);

/// How a family is computed. `fill` takes what `analytic` gave.
struct OperationFamily {
  std::span<const std::string_view> constants;
  std::size_t features;  ///< the kernel's number is one more
  OperationAnalytic (*analytic)(const Machine&, std::span<const double>, const KernelShape&);
  void (*fill)(const Machine&, const OperationAnalytic&, const KernelShape&, std::span<float>);
  double (*roofline_us)(const Machine&, const KernelShape&);
  std::array<double, 3> (*domain)(const KernelShape&);
  bool (*valid)(std::span<const double>);
  std::vector<std::vector<double>> starts;  ///< constants of other GPUs; the first are the generic ones
};
/// How that family is computed.
const OperationFamily& family_of(OperationKind kind);

/// Most kernels that the rows of one operation may name.
inline constexpr std::size_t kMaxOperationKernels = 8;

/// One point of a measured curve: its place and its weight in the answer.
struct CurvePoint {
  std::array<float, 3> at{};
  float weight = 0;
};

/// A collective's kernel: launch + bytes over the link, and what the measured points around say of the rest
/// (a Gaussian process on log time).
struct Curve {
  std::int32_t kernel = 0, op = 0;
  double t0_us = 0, us_per_byte = 0;
  double spread = 0;  ///< of the errors of points left out, on log time
  std::vector<CurvePoint> points;
};

/// What the residual file of an operation holds.
struct OperationTrees {
  Forest residual, spread;
  std::vector<Forest> choice;  ///< one a kernel: how likely it is the one that runs
  std::vector<Curve> curves;
  double length = 1, gpus_length = 1;  ///< of the curves: how far a point reaches, in powers of two
};

/// One fitted operation.
struct Operation {
  OperationKey key;
  std::vector<double> constants;
  std::vector<std::string> kernels;  ///< ascending; the features hold the place
  double band = 0;
  std::array<double, 3> low{}, high{};
  std::int64_t rows = 0, sites = 0;
  Accuracy errors;
  std::string residuals, sha256;  ///< the residual file beside the hardware file
  /// Reads the trees; called once. Absent: `trees` was set when the operation was made.
  std::function<Parsed<OperationTrees>()> load;
  mutable std::once_flag once;
  mutable std::shared_ptr<const OperationTrees> trees;
  mutable Diagnostics found;  ///< of reading them
};

/// The source's operation for that shape, or nullptr. Reads its trees at first use: `found` says what is
/// wrong with them, and such an operation is not there.
const Operation* find_operation(const KernelSource& source, const OperationKey& key);

/// Why the source cannot answer `request` from measurements: operation-not-measured, kernel-not-measured (a
/// warning: the kernel that would run is predicted), and what is wrong with its residual file. Empty: it can.
Diagnostics check_request(const KernelSource& source, const KernelRequest& request);

/// Time, band, provenance and bound of any kernel. What the source has not measured is predicted from the
/// data sheet with generic constants, and its provenance says specification.
KernelTime predict_kernel(const KernelSource& source, std::string_view name, const KernelRequest& request);

/// A kernel's name as operations keep it: without a version behind a space ("NCCL 2.29.2" is NCCL).
std::string_view plain_kernel(std::string_view name);

}  // namespace plumbline
