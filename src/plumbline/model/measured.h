// SPDX-License-Identifier: Apache-2.0
// The measured model: kernel times from analytic formulas whose constants, and whose residual, were fitted to
// measured rows of one framework on one GPU. docs/accuracy.md says how well it does on shapes it did not see.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/accuracy.h"
#include "plumbline/model/decoder_kernels.h"
#include "plumbline/model/forest.h"
#include "plumbline/model/hardware.h"
#include "plumbline/model/kernel_names.h"
#include "plumbline/model/layer.h"
#include "plumbline/model/machine.h"
#include "plumbline/model/measured_attention.h"
#include "plumbline/model/measured_gemm.h"
#include "plumbline/model/operation.h"
#include "plumbline/model/prediction.h"

namespace plumbline {

class KernelMemory;  // model/kernel_memory.h

/// Operations without a matrix product. `rmsnorm` is the framework's own kernel, `fused_rmsnorm` a
/// compiler's.
enum class ElementwiseOp {
  rmsnorm,
  fused_rmsnorm,
  add_rmsnorm,
  residual_add,
  swiglu,
  geglu,
  rope,
  qk_norm_rope
};
/// How many ElementwiseOp there are.
inline constexpr std::size_t kElementwiseOps = 8;
/// The enumerator's name, "swiglu" for example.
std::string_view to_string(ElementwiseOp op);

/// `rows` tokens of `cols` elements (of the output for SwiGLU and GeGLU; (heads + kv_heads)·head_dim for
/// RoPE).
struct ElementwiseShape {
  ElementwiseOp op = ElementwiseOp::rmsnorm;
  std::int64_t rows = 1, cols = 1;
};

/// Names of the constants of an element-wise operation: t0_us (launch), row_us (a thousand elements of a
/// row), bandwidth (share of the data sheet's), cache_gain (of what stays in L2), p (how the two combine).
inline constexpr std::array<std::string_view, 5> kElementwiseConstants{"t0_us", "row_us", "bandwidth",
                                                                       "cache_gain", "p"};
/// The analytic time in microseconds.
double elementwise_us(const Machine& machine, const std::array<double, 5>& constants,
                      const ElementwiseShape& shape);

/// A file of measured rows that a source was fitted to.
struct RowFile {
  std::string name;    ///< without its folder
  std::string sha256;  ///< of its bytes
  std::string licence;
  std::int64_t rows = 0;      ///< kept and used
  std::int64_t rejected = 0;  ///< impossible or malformed
  bool kernel_names = false;  ///< it holds no times, but the kernel that ran for each GEMM
};

/// One fitted operation: the formula's constants, and trees on log(measured / formula). No constants:
/// unknown.
struct FittedOp {
  std::vector<double> constants;
  Forest residual;
  Forest spread;                        ///< log of the expected |residual error|
  bool one_quantisation = false;        ///< set where same_thresholds(residual, spread) is known to hold
  double band = 0;                      ///< half-width of the 90 % band on log time, in spreads
  std::array<double, 3> low{}, high{};  ///< least and greatest sizes that the rows held, see domain()
  std::int64_t rows = 0, sites = 0;
  Accuracy errors;  ///< by folds of unseen sites

  /// True when the formula has constants.
  bool known() const { return !constants.empty(); }
};

/// A fitted element-wise operation.
struct FittedElementwise {
  std::array<double, 5> constants{};
  double half_width = 0;  ///< of the 90 % band on log time
  std::int64_t rows = 0;
  Accuracy errors;
};

/// The kinds of whole layers that fusion terms are fitted for.
enum class LayerKind { prefill, window, decode };

/// What fusion and neighbours do to the sum of separately measured kernels; the names are the file's keys.
inline constexpr std::array<std::string_view, 13> kLayerTerms{
    "gemm",         ///< GEMM time inside a layer over its time alone
    "throttle",     ///< added share of GEMM time beyond 0.5 ms: the clock falls under load
    "flash",        ///< attention inside a layer over its time alone, by backend
    "cudnn",        //
    "kernel_us",    ///< start and end of each element-wise kernel
    "residual",     ///< bytes of norms and adds of the residual stream that reach HBM: the rest is in L2
    "rope",         ///< the same for RoPE
    "qk_norm",      ///< the same, added where queries and keys are normalised
    "output_copy",  ///< the same for the attention output's change of layout
    "activation",   ///< the same for SwiGLU
    "kv_expand",    ///< the same for KV heads repeated to the query heads (sliding windows)
    "cache",        ///< decode: the same for the KV cache being written
    "token_us"};    ///< decode: microseconds a token of the batch
/// How many fusion terms there are.
inline constexpr std::size_t kLayerTermCount = kLayerTerms.size();

/// Fitted fusion terms of one kind of layer.
struct FittedLayer {
  std::array<double, kLayerTermCount> terms{};
  double half_width = 0;         ///< of the 90 % band on log time of the total, on any card of the kind
  double within_half_width = 0;  ///< the same on the card that the rows came from
  std::int64_t rows = 0, sites = 0;
  std::int64_t sessions = 0;  ///< measuring sessions, of cards of one kind
  Accuracy errors;
};

/// A measurement kept to be shown beside a prediction.
struct KeptRow {
  std::uint64_t key = 0;  ///< shape_key
  float ms = 0;
};

/// Tells kernel sources apart: every source, a copy too, has its own number.
struct SourceId {
  std::uint64_t value;
  SourceId();
  SourceId(const SourceId&) : SourceId() {}
  SourceId& operator=(const SourceId&) { return *this; }
};

/// Constants and residuals fitted to one framework's kernels on one GPU. Complete before it predicts layers:
/// predict_measured remembers kernels by `id`.
struct KernelSource {
  SourceId id;
  std::string name;                 ///< "pytorch", "vllm"
  std::string framework;            ///< versions, and how it was measured
  bool specification_only = false;  ///< nothing was measured: generic constants on the data sheet
  Machine machine;
  double sm_mhz = 0;  ///< the SM clock under load at which its bf16 GEMMs' times hold; 0: no row said one
  double clock = 1;   ///< of the card that is predicted, as a share of that (at_clock)
  std::vector<RowFile> rows;
  FittedOp gemm;                            ///< n and k multiples of 8
  FittedOp misaligned;                      ///< the others
  std::array<FittedOp, 4> prefill, decode;  ///< by measured_place()
  std::array<FittedElementwise, kElementwiseOps> elementwise;
  std::array<FittedLayer, 3> layers;      ///< by LayerKind
  std::map<std::string, double> budgets;  ///< MAPE in per cent that validation may reach, by operation
  std::vector<KeptRow> kept;              ///< ascending by key
  KernelNames kernels;                    ///< of GEMMs, where they were recorded
  std::vector<std::shared_ptr<const Operation>>
      operations;  ///< in other formats, of experts, latent attention, …
};

/// The kernel source called `name` (the first one when `name` is empty), or nullptr.
std::shared_ptr<const KernelSource> find_source(const Hardware& hardware, std::string_view name = {});

/// A source that knows the data sheet alone: generic constants, wide bands, provenance "specification".
std::shared_ptr<const KernelSource> specification_source(const DataSheet& sheet);

/// Do the source's attention times include writing the new keys and values to the cache?
bool attention_writes_cache(const KernelSource& source);

/// Time, band, provenance and what binds one GEMM.
KernelTime predict_gemm(const KernelSource& source, std::string_view name, const GemmShape& shape);
/// The same for attention; with AttentionBackend::best the faster backend that the source knows.
KernelTime predict_attention(const KernelSource& source, std::string_view name, const AttentionShape& shape);
/// The same for an element-wise operation.
KernelTime predict_elementwise(const KernelSource& source, std::string_view name,
                               const ElementwiseShape& shape);

/// The time of one valid layer, kernel by kernel, with its band. Allocates nothing. Kernels of shapes that a
/// thread predicted lately are remembered (a ranking meets the same ones again and again); results are the
/// same.
Prediction predict_measured(const KernelSource& source, const Layer& layer, KernelMemory* memory = nullptr);

/// Kernel `i` of predict_measured() alone, or none where the layer has fewer.
std::optional<KernelTime> predict_measured_kernel(const KernelSource& source, const Layer& layer,
                                                  std::size_t i, KernelMemory* memory = nullptr);

/// An element-wise kernel inside a layer.
struct PointwiseKernel {
  KernelRole role;
  KernelTime time;
};
/// Only the element-wise kernels of a valid layer, in their order.
std::vector<PointwiseKernel> predict_pointwise(const KernelSource& source, const Layer& layer);

/// A product of a layer of that kind: `alone` with what fusion and the falling clock do to it.
KernelTime inside_layer(const KernelSource& source, LayerKind kind, const KernelTime& alone);

/// A layer's parts before fusion terms, in microseconds: the columns that the terms multiply, in their order.
std::array<double, kLayerTermCount> layer_columns(const KernelSource& source, const Layer& layer);
/// The source as a card sees it whose SM clock under load was measured: bf16 GEMMs go by the clock as far as
/// the tensor cores and L2 bind them, HBM and launches do not, and layers take the band within one card.
/// (Attention's rows show no such bias on another day's card: docs/accuracy.md.) The source has an sm_mhz.
std::shared_ptr<const KernelSource> at_clock(const KernelSource& source, double sm_mhz);

/// The half-width that a layer's total has at least. Where no layer was measured but its kernels were, it is
/// what putting kernels together adds: the total's band comes from the kernels' own.
double layer_half_width(const KernelSource& source, LayerKind kind);

/// Which terms a layer takes.
LayerKind layer_kind(const Layer& layer);

/// Key of a kept GEMM measurement.
std::uint64_t shape_key(const GemmShape& shape);
/// Key of a kept attention measurement.
std::uint64_t shape_key(const AttentionShape& shape);
/// The measurement of exactly that shape, in ms, if one was kept.
std::optional<double> kept_measurement(const KernelSource& source, std::uint64_t key);

/// The same for a kernel of a layer, by its name in the prediction: what it took alone, not inside a layer.
/// GEMMs, and attention where the layer names its backend.
std::optional<double> kept_measurement(const KernelSource& source, const Layer& layer,
                                       std::string_view kernel);

}  // namespace plumbline
