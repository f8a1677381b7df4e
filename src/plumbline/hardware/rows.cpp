// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/hardware/row_cells.h"
#include "plumbline/hardware/row_limits.h"
#include "plumbline/model/measured_generic.h"

namespace plumbline {
namespace {

std::optional<AttentionBackend> backend_of(std::string_view text) {
  if (text.empty() || text == "best") return AttentionBackend::best;
  if (text == "flash" || text == "varlen") return AttentionBackend::flash;
  if (text == "cudnn") return AttentionBackend::cudnn;
  if (text == "flex") return AttentionBackend::flex;
  return std::nullopt;
}

AttentionBackend read_backend(Row& row) {
  const auto backend = backend_of(row.text("backend"));
  if (!backend)
    row.complain(fmt::format("backend is '{}': flash, varlen, cudnn or flex is needed",
                             printable(row.text("backend"))));
  return backend.value_or(AttentionBackend::best);
}

GemmShape read_gemm(Row& row) { return {row.count("m"), row.count("n"), row.count("k")}; }

std::string read_kernel(Row& row) {
  const std::string_view name = row.text("kernel");
  if (!is_kernel_name(name)) {
    row.complain(fmt::format("kernel is '{}': a kernel's name of 1 to {} printable characters is needed",
                             printable(name.substr(0, 40)), kMaxKernelName));
  }
  return std::string(name);
}

std::int64_t read_window(Row& row, std::string_view column) {
  const std::string_view cell = row.text(column);
  return cell.empty() || cell == "0" || cell == "-1" ? 0 : row.count(column);
}

AttentionShape read_attention(Row& row) {
  AttentionShape s;
  s.batch = row.count("batch");
  s.heads = row.count("heads");
  s.kv_heads = row.count("kv_heads");
  s.head_dim = row.count("head_dim");
  if (row.header.has("seq_q")) {
    s.q_len = row.count("seq_q");
    s.kv_len = row.count("kv_len", s.q_len);
  } else {
    s.kv_len = row.count("kv_len");
    s.q_len = row.count("q_len", 1);
  }
  s.causal = row.yes("causal", true);
  s.window = read_window(row, "window");
  s.backend = read_backend(row);
  if (s.heads % s.kv_heads != 0)
    row.complain(fmt::format("{} heads cannot share {} KV heads", s.heads, s.kv_heads));
  return s;
}

std::optional<ElementwiseOp> op_of(std::string_view name, std::string_view impl) {
  if (name == "rmsnorm" && impl == "inductor") return ElementwiseOp::fused_rmsnorm;
  if (name == "qknorm_rope") return ElementwiseOp::qk_norm_rope;
  if (name == "add") return ElementwiseOp::residual_add;
  for (std::size_t i = 0; i < kElementwiseOps; ++i) {
    if (to_string(static_cast<ElementwiseOp>(i)) == name) return static_cast<ElementwiseOp>(i);
  }
  return std::nullopt;
}

ElementwiseShape read_elementwise(Row& row, std::string_view name) {
  ElementwiseShape s;
  if (const auto op = op_of(name, row.text("impl"))) {
    s.op = *op;
  } else {
    row.complain(fmt::format("op '{}' is not known", printable(name)));
  }
  s.rows = row.count("rows");
  const bool heads = s.op == ElementwiseOp::rope || s.op == ElementwiseOp::qk_norm_rope;
  s.cols = heads && row.text("cols").empty()
               ? (row.count("heads") + row.count("kv_heads")) * row.count("head_dim")
               : row.count("cols");
  return s;
}

Layer read_layer(Row& row, bool decode_file) {
  Layer layer;
  layer.name = std::string(row.text("name"));
  layer.hidden_dim = row.count("hidden_dim");
  layer.num_heads = row.count("num_heads");
  layer.num_kv_heads = row.count("num_kv_heads", layer.num_heads);
  layer.head_dim = row.count("head_dim");
  layer.ffn_dim = row.count("ffn_dim");
  layer.seq_len = row.count("seq_len");
  layer.batch_size = row.count("batch_size", 1);
  layer.use_qk_norm = row.yes("use_qk_norm", false);
  layer.window_size = read_window(row, "window_size");
  layer.backend = read_backend(row);
  if (layer.backend == AttentionBackend::flex)  // its factor inside a layer is not fitted
    row.complain("backend is 'flex': a layer's row needs flash, varlen or cudnn");
  const std::string_view phase = row.text("phase");
  if (!phase.empty() && phase != "prefill" && phase != "decode")
    row.complain("phase must be prefill or decode");
  layer.phase = phase == "decode" || (phase.empty() && decode_file) ? Phase::decode : Phase::prefill;
  if (const Diagnostics found = validate(layer); !found.empty()) row.complain(found[0].message);
  return layer;
}

struct TimeColumn {
  std::string_view name;
  double us_each = 0;
};

std::optional<TimeColumn> time_column(const Header& header) {
  for (const TimeColumn column : {TimeColumn{"ms", 1e3}, TimeColumn{"us", 1.0}, TimeColumn{"ns", 1e-3}}) {
    if (header.has(column.name)) return column;
  }
  return std::nullopt;
}

enum class Family { gemm, kernels, attention, elementwise, layers, operation };

std::optional<Family> family_in(const Header& header) {
  if (operation_rows_of(header)) return Family::operation;
  if (header.has("m") && header.has("n") && header.has("k")) {
    return header.has("kernel") && !time_column(header) ? Family::kernels : Family::gemm;
  }
  if (header.has("hidden_dim") && header.has("ffn_dim") && header.has("seq_len")) return Family::layers;
  if (header.has("heads") && header.has("kv_len")) return Family::attention;
  if (header.has("heads") && header.has("seq_q")) return Family::attention;
  if (header.has("op") && header.has("rows")) return Family::elementwise;
  return std::nullopt;
}

/// A reading of fewer replays, or of replays further apart, says little of its shape.
constexpr int kLeastReplays = 3;
constexpr int kMostSpreadPct = 30;

/// Reading one file of measurements.
struct Reader {
  const std::string& file;
  const Header& header;
  Family family;
  TimeColumn time;  ///< without a name: the file holds no times
  const KernelSource& generic;
  bool decode_file;
  RowFormats formats;
  MeasuredRows& rows;
  RowFile& account;
  Diagnostics& found;

  void reject(std::string_view code, const std::string& why, int line) {
    ++account.rejected;
    found.push_back(diagnose(code, why, {file, line, 0}));
  }

  template <class Shape>
  void keep(Row& row, const Shape& shape, double us, int line, std::vector<Measured<Shape>>& into) {
    if (!row.wrong.empty()) return reject("row-malformed", row.wrong, line);
    if (const auto doubt = implausible(generic, shape, us)) return reject(doubt->code, doubt->why, line);
    into.push_back({shape, us, line, static_cast<int>(rows.files.size()), row_clock(row)});
    ++account.rows;
  }

  void keep_gemm(Row& row, double us, int line) {
    KernelRequest request = read_gemm_row(row, formats);
    const auto& shape = std::get<GemmShape>(request.shape);
    if (shape.dtype == Dtype::bf16) return keep(row, shape, us, line, rows.gemm);
    keep(row, request, us, line, rows.operations);
  }
  void keep_attention(Row& row, double us, int line) {
    AttentionShape shape = read_attention(row);
    shape.kv = read_dtype(row, "kv_dtype", formats.kv_dtype);
    if (shape.kv == Dtype::bf16) return keep(row, shape, us, line, rows.attention);
    keep(row, KernelRequest{shape, std::string(plain_kernel(row.text("kernel")))}, us, line, rows.operations);
  }
  void keep_kernel(Row& row, int line) {
    NamedGemm named{read_gemm(row), read_kernel(row)};
    if (!row.wrong.empty()) return reject("row-malformed", row.wrong, line);
    rows.kernels.push_back(std::move(named));
    ++account.rows;
  }

  /// The SM clock of a row, 0 where it says none that can be.
  static double row_clock(const Row& row) {
    const auto mhz = parse_double(row.text("sm_mhz"));
    return mhz && *mhz >= 100 && *mhz <= 10000 ? *mhz : 0;
  }

  /// Why a reading that says how it came about cannot stand for its shape.
  static std::optional<std::string> unsteady(const Row& row) {
    const auto replays = parse_double(row.text("replays")), spread = parse_double(row.text("spread_pct"));
    if (replays && *replays < kLeastReplays)
      return fmt::format("the median of {} replays: {} are needed", *replays, kLeastReplays);
    if (spread && *spread > kMostSpreadPct)
      return fmt::format("its replays lie {} % apart, more than {} %", format_fixed(*spread, 1),
                         kMostSpreadPct);
    return std::nullopt;
  }

  void take(const Cells& cells, int line) {
    Row row{header, cells};
    row.check_width();
    const auto value = parse_double(row.text(time.name));
    if (!time.name.empty() && (!value || !(*value > 0) || !std::isfinite(*value))) {
      row.complain(fmt::format("{} is '{}': a time over 0 is needed", time.name,
                               printable(cut_middle(row.text(time.name), 60))));
    }
    const bool plain = family != Family::operation && family != Family::gemm;
    if (plain && header.has("dtype") && row.text("dtype") != "bf16") {
      row.complain(fmt::format("dtype is '{}': only bf16 is modelled", printable(row.text("dtype"))));
    }
    const double us = value.value_or(1) * time.us_each;
    if (const auto why = unsteady(row); why && row.wrong.empty()) return reject("row-unsteady", *why, line);
    switch (family) {
      case Family::gemm:
        return keep_gemm(row, us, line);
      case Family::kernels:
        return keep_kernel(row, line);
      case Family::attention:
        return keep_attention(row, us, line);
      case Family::elementwise:
        return keep(row, read_elementwise(row, row.text("op")), us, line, rows.elementwise);
      case Family::layers:
        return keep(row, read_layer(row, decode_file), us, line, rows.layers);
      case Family::operation:
        return keep(row, read_operation_row(row, *operation_rows_of(header), formats), us, line,
                    rows.operations);
    }
  }
};

Header read_header(std::string_view& text, int& line_number) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string_view line;
  Header header;
  while (next_line(text, line)) {
    ++line_number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    const std::string lower = to_lower(line);
    CsvLine cells;
    for (const std::string_view name : split_line(lower, cells)) header.names.emplace_back(name);
    break;
  }
  return header;
}

Diagnostic unknown_columns(const std::string& file, std::string_view what) {
  return diagnose("rows-columns-unknown", std::string(what), {file, 1, 1});
}

}  // namespace

Diagnostics read_rows(std::string_view text, const std::string& file, const DataSheet& sheet,
                      MeasuredRows& rows) {
  RowFile account;
  account.name = std::filesystem::path(file).filename().string();
  account.sha256 = sha256_hex(text);
  int line_number = 0;
  const Header header = read_header(text, line_number);
  const auto family = family_in(header);
  if (!family) {
    return {unknown_columns(
        file,
        "the header belongs to no operation: m,n,k (GEMM, or kernel names), heads,kv_heads,… (attention), "
        "op,rows,cols (element-wise) or hidden_dim,… (layers)")};
  }
  const bool named = *family == Family::kernels;
  account.kernel_names = named;
  const auto time = named ? TimeColumn{} : time_column(header);
  if (!time) return {unknown_columns(file, "there is no column of times in a known unit: ms, us or ns")};
  const auto generic = specification_source(sheet);
  Diagnostics found;
  const bool decode_file = account.name.find("decode") != std::string::npos;
  Reader reader{file, header,  *family, *time, *generic, decode_file, formats_in(account.name),
                rows, account, found};
  CsvLine line_cells;
  std::string_view line;
  while (next_line(text, line)) {
    ++line_number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    reader.take(split_line(line, line_cells), line_number);
  }
  const auto impossible = std::count_if(found.begin(), found.end(), [](const Diagnostic& d) {
    return d.code == "row-impossible" || d.code == "row-unit-slip";
  });
  if (auto other = measured_something_else(account, impossible, file)) found.push_back(std::move(*other));
  if (auto host = host_time(*generic, rows, static_cast<int>(rows.files.size()), file))
    found.push_back(std::move(*host));
  rows.files.push_back(std::move(account));
  return found;
}

Parsed<std::vector<AskedRow>> read_asked_rows(std::string_view text, const std::string& file,
                                              std::string_view op, const RowFormats& formats) {
  using Asked = std::vector<AskedRow>;
  const bool operation = op == "moe" || op == "grouped_gemm" || op == "mla" || op == "collective";
  const bool plain = operation || op == "gemm" || op == "attention" || op == "layer";
  if (!plain && !op_of(op, "")) {
    std::string known = "gemm, attention, moe, grouped_gemm, mla, collective, layer";
    for (std::size_t i = 0; i < kElementwiseOps; ++i)
      known += fmt::format(", {}", to_string(static_cast<ElementwiseOp>(i)));
    return failed<Asked>(
        diagnose("shape-unknown", fmt::format("op '{}' is not known; there are {}", printable(op), known)));
  }
  int line_number = 0;
  const Header header = read_header(text, line_number);
  std::string missing;
  const auto need = [&](std::initializer_list<std::string_view> names) {
    for (const auto name : names) {
      if (!header.has(name)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    }
  };
  if (op == "gemm") need({"m", "n", "k"});
  if (op == "attention") need({"batch", "heads", "kv_heads", "head_dim"});
  if (op == "attention" && !header.has("seq_q")) need({"kv_len"});
  if (op == "layer") need({"hidden_dim", "num_heads", "head_dim", "ffn_dim", "seq_len"});
  if (op == "moe") need({"tokens", "hidden", "inter", "topk", "experts"});
  if (op == "grouped_gemm")
    need({"tokens", "hidden", "inter", "topk", "experts", "part", "active", "max_rows"});
  if (op == "mla") need({"heads", "batch"});
  if (op == "mla" && !header.has("seq_q")) need({"kv_len"});
  if (op == "collective") need({"op", "gpus", "message"});
  if (!plain) need({"rows"});
  if (!plain && !header.has("heads")) need({"cols"});
  if (!missing.empty())
    return failed<Asked>(unknown_columns(file, fmt::format("columns are missing: {}", missing)));
  Parsed<Asked> result;
  Asked asked;
  CsvLine line_cells;
  std::string_view line;
  while (next_line(text, line)) {
    ++line_number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    Row row{header, split_line(line, line_cells)};
    row.check_width();
    AskedRow one;
    if (op == "gemm") {
      one.operation = read_gemm_row(row, formats);
      one.gemm = std::get<GemmShape>(one.operation.shape);
      if (one.gemm.dtype != Dtype::bf16) one.kind = AskedRow::Kind::operation;
    } else if (operation) {
      one.kind = AskedRow::Kind::operation;
      one.operation = read_operation_row(row, *operation_rows_of(header), formats);
    } else if (op == "attention") {
      one.kind = AskedRow::Kind::attention;
      one.attention = read_attention(row);
      one.attention.kv = read_dtype(row, "kv_dtype", formats.kv_dtype);
      if (one.attention.kv != Dtype::bf16) {
        one.kind = AskedRow::Kind::operation;
        one.operation = {one.attention, std::string(plain_kernel(row.text("kernel")))};
      }
    } else if (op == "layer") {
      one.kind = AskedRow::Kind::layer;
      one.layer = read_layer(
          row, std::filesystem::path(file).filename().string().find("decode") != std::string::npos);
    } else {
      one.kind = AskedRow::Kind::elementwise;
      one.elementwise = read_elementwise(row, op);
    }
    if (!row.wrong.empty())
      result.diagnostics.push_back(diagnose("shape-unknown", row.wrong, {file, line_number, 0}));
    asked.push_back(std::move(one));
  }
  if (!has_errors(result.diagnostics)) result.value = std::move(asked);
  return result;
}

}  // namespace plumbline
