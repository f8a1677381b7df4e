// SPDX-License-Identifier: Apache-2.0
// KernelRequest: one operation as data, whatever it is; what a prediction of one kernel is asked with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "plumbline/model/dtype.h"
#include "plumbline/model/measured_attention.h"
#include "plumbline/model/measured_gemm.h"

namespace plumbline {

/// How tokens choose experts. Power laws are those of the public tables: expected loads are drawn from
/// x^-alpha.
enum class Routing : std::uint8_t { balanced, power_law_1_01, power_law_1_2 };
/// "balanced", "power_law_1.01" or "power_law_1.2".
std::string_view to_string(Routing routing);

/// One fused call of one rank's experts: routing, both products of every chosen expert, and the weighted sum.
struct MoeShape {
  std::int64_t tokens = 1;  ///< of the whole expert-parallel group, as the public tables count them
  std::int64_t hidden = 1;
  std::int64_t inter = 1;  ///< width of an expert of the whole model; a rank holds inter / tp
  std::int64_t topk = 1, experts = 1;
  std::int64_t tp = 1, ep = 1;  ///< a rank holds experts / ep
  Routing routing = Routing::balanced;
  Dtype dtype = Dtype::bf16;
  bool gated = true;  ///< gate and up products; false: up alone (squared ReLU)
};

/// Whether the experts of a model of that size have no gate: NVIDIA's Nemotron 3 family squares a ReLU.
/// Tables that do not say what an expert computes are read by it.
bool known_without_gate(const MoeShape& shape);

/// One grouped GEMM over the experts of a layer: tokens·topk rows, sorted by expert.
struct GroupedGemmShape {
  std::int64_t tokens = 1, hidden = 1, inter = 1, topk = 1, experts = 1;
  std::int64_t active = 1;    ///< experts that got rows
  std::int64_t max_rows = 1;  ///< the most rows of one expert
  bool down = false;          ///< inter -> hidden; otherwise hidden -> 2·inter
  Dtype dtype = Dtype::bf16;
};

/// DeepSeek-V3's latent attention for `heads` of a rank: as `module` with its projections (hidden 7168,
/// query rank 1536, latent 512, RoPE 64, heads of 128), else the attention kernels alone.
struct MlaShape {
  std::int64_t batch = 1, q_len = 1, kv_len = 1, heads = 1;
  bool decode = false;
  bool module = true;
  Dtype attention = Dtype::bf16;  ///< of the attention's products
  Dtype gemm = Dtype::bf16;       ///< of the projections
  Dtype kv = Dtype::bf16;         ///< of the cache
};

/// What GPUs do together; all_to_all is "alltoall" in tables.
enum class CollectiveOp : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all };
/// "all_reduce", "all_gather", "reduce_scatter" or "alltoall".
std::string_view to_string(CollectiveOp op);

/// A collective over the GPUs of one host.
struct CollectiveShape {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::int64_t gpus = 2;
  std::int64_t elements = 1;       ///< as NCCL's tests count them: of the whole message
  std::int64_t element_bytes = 2;  ///< 2 (bf16, half) or 1 (int8)
};

/// Any of the shapes. GEMM's and attention's hold their formats too.
using KernelShape =
    std::variant<GemmShape, AttentionShape, MoeShape, GroupedGemmShape, MlaShape, CollectiveShape>;

/// One kernel (or fused call) to predict.
struct KernelRequest {
  KernelShape shape;
  std::string kernel{};  ///< which of the source's kernels; empty: the one that the source would run
};

/// "gemm", "attention", "moe", "grouped_gemm", "mla" or "collective".
std::string_view op_of(const KernelShape& shape);

}  // namespace plumbline
