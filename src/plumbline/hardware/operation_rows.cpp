// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/operation_rows.h"

#include "plumbline/model/operation.h"

namespace plumbline {

RowFormats formats_in(std::string_view name) {
  RowFormats out;
  if (name.find("_kv_fp8") != name.npos) out.kv_dtype = Dtype::fp8;
  for (const std::string_view op : {"_gemm_", "_moe_"}) {
    const auto at = name.find(op);
    if (at == name.npos) continue;
    const std::string_view rest = name.substr(at + op.size());
    // the longest name that fits: fp8_block before fp8
    std::size_t longest = 0;
    for (std::size_t i = 0; i < kDtypes; ++i) {
      const std::string_view format = kDtypeCosts[i].name;
      if (!rest.starts_with(format) || format.size() < longest) continue;
      longest = format.size();
      out.dtype = static_cast<Dtype>(i);
    }
  }
  return out;
}

std::optional<OperationRows> operation_rows_of(const Header& header) {
  if (header.has("tokens") && header.has("hidden") && header.has("inter") && header.has("experts"))
    return header.has("part") ? OperationRows::grouped_gemm : OperationRows::moe;
  if (header.has("gpus") && header.has("message")) return OperationRows::collective;
  const bool keys = header.has("kv_len") || header.has("seq_q");
  if (header.has("mla_dtype") ||
      (header.has("heads") && !header.has("kv_heads") && header.has("batch") && keys))
    return OperationRows::mla;
  return std::nullopt;
}

Dtype read_dtype(Row& row, std::string_view column, Dtype absent) {
  const std::string_view cell = row.text(column);
  if (cell.empty()) return absent;
  const auto found = find_dtype(cell);
  if (!found)
    row.complain(fmt::format("{} is '{}': no format that is known", column, printable(cut_middle(cell, 60))));
  return found.value_or(absent);
}

namespace {

Routing read_routing(Row& row) {
  const std::string_view cell = row.text("distribution");
  if (cell.empty() || cell == "balanced") return Routing::balanced;
  if (cell == "power_law_1.01") return Routing::power_law_1_01;
  if (cell == "power_law_1.2" || cell == "power_law") return Routing::power_law_1_2;
  row.complain(fmt::format("distribution is '{}': balanced, power_law_1.01 or power_law_1.2 is needed",
                           printable(cut_middle(cell, 60))));
  return Routing::balanced;
}

MoeShape read_moe(Row& row, const RowFormats& formats) {
  MoeShape s;
  s.tokens = row.count("tokens");
  s.hidden = row.count("hidden");
  s.inter = row.count("inter");
  s.topk = row.count("topk");
  s.experts = row.count("experts");
  s.tp = row.count("tp", 1);
  s.ep = row.count("ep", 1);
  s.routing = read_routing(row);
  s.dtype = read_dtype(row, "dtype", formats.dtype);
  s.gated = row.yes("gated", !known_without_gate(s));
  if (s.topk > s.experts) row.complain(fmt::format("{} experts cannot be chosen of {}", s.topk, s.experts));
  if (s.ep > s.experts) row.complain(fmt::format("{} ranks cannot share {} experts", s.ep, s.experts));
  return s;
}

GroupedGemmShape read_grouped(Row& row, const RowFormats& formats) {
  GroupedGemmShape s;
  s.tokens = row.count("tokens");
  s.hidden = row.count("hidden");
  s.inter = row.count("inter");
  s.topk = row.count("topk");
  s.experts = row.count("experts");
  s.active = row.count("active");
  s.max_rows = row.count("max_rows");
  const std::string_view part = row.text("part");
  if (part != "gate_up" && part != "down") row.complain("part must be gate_up or down");
  s.down = part == "down";
  s.dtype = read_dtype(row, "dtype", formats.dtype);
  if (s.active > s.experts) row.complain(fmt::format("{} of {} experts got rows", s.active, s.experts));
  return s;
}

MlaShape read_mla(Row& row, const RowFormats& formats) {
  MlaShape s;
  s.heads = row.count("heads");
  s.batch = row.count("batch");
  s.decode = !row.header.has("seq_q");
  s.q_len = s.decode ? 1 : row.count("seq_q");
  s.kv_len = s.decode ? row.count("kv_len") : row.count("kv_len", s.q_len);
  s.module = row.header.has("mla_dtype") || row.header.has("gemm_dtype");
  s.attention = read_dtype(row, s.module ? "mla_dtype" : "dtype", Dtype::bf16);
  s.gemm = read_dtype(row, "gemm_dtype", formats.dtype);
  s.kv = read_dtype(row, "kv_dtype", formats.kv_dtype);
  return s;
}

CollectiveShape read_collective(Row& row) {
  CollectiveShape s;
  const std::string_view op = row.text("op");
  bool known = false;
  for (const CollectiveOp one : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                 CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    if (to_string(one) != op && !(op == "all_to_all" && one == CollectiveOp::all_to_all)) continue;
    s.op = one;
    known = true;
  }
  if (!known)
    row.complain(fmt::format("op is '{}': all_reduce, all_gather, reduce_scatter or alltoall is needed",
                             printable(op)));
  s.gpus = row.count("gpus");
  s.elements = row.count("message");
  const std::string_view dtype = row.text("dtype");
  s.element_bytes = dtype == "int8" || dtype == "fp8" ? 1 : dtype == "float" || dtype == "float32" ? 4 : 2;
  return s;
}

}  // namespace

KernelRequest read_operation_row(Row& row, OperationRows family, const RowFormats& formats) {
  KernelRequest out;
  out.kernel = std::string(plain_kernel(row.text("kernel")));
  switch (family) {
    case OperationRows::moe:
      out.shape = read_moe(row, formats);
      break;
    case OperationRows::grouped_gemm:
      out.shape = read_grouped(row, formats);
      out.kernel.clear();  // one family of kernels: which of its tiles ran is not a choice of a caller
      break;
    case OperationRows::mla:
      out.shape = read_mla(row, formats);
      break;
    case OperationRows::collective:
      out.shape = read_collective(row);
      break;
  }
  return out;
}

KernelRequest read_gemm_row(Row& row, const RowFormats& formats) {
  const Dtype dtype = read_dtype(row, "dtype", formats.dtype);
  KernelRequest out{GemmShape{row.count("m"), row.count("n"), row.count("k"), dtype}};
  const std::string_view scaling = row.text("scaling");
  out.kernel = std::string(scaling.empty() ? plain_kernel(row.text("kernel")) : scaling);
  return out;
}

}  // namespace plumbline
