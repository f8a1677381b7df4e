// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/hardware_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/model/measured.h"
#include "plumbline/report/accuracy_report.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

Json proxy_json(const Hardware& hardware) {
  if (!hardware.proxy) return nullptr;
  const ProxyConstants& p = *hardware.proxy;
  return {{"origin", hardware.proxy_source},
          {"hbm_bandwidth_gbps", p.hbm_bandwidth_gbps},
          {"rmsnorm_gbps", p.rmsnorm_gbps},
          {"rmsnorm_gbps_small", p.rmsnorm_gbps_small},
          {"qk_norm_rope_gbps", p.qk_norm_rope_gbps},
          {"qk_norm_rope_separate_gbps", p.qk_norm_rope_separate_gbps},
          {"geglu_gbps", p.geglu_gbps},
          {"matmul_tflops", p.matmul_tflops},
          {"matmul_tflops_small", p.matmul_tflops_small},
          {"attention_tflops", p.attention_tflops},
          {"residual_add_gbps", p.residual_add_gbps}};
}

/// What predictions on this GPU rest on, in words.
std::string knowledge(const Hardware& hardware) {
  if (!hardware.sources.empty()) return hardware.proxy ? "measured kernels, proxy" : "measured kernels";
  return hardware.proxy ? "DATA SHEET AND PROXY ONLY" : "DATA SHEET ONLY";
}

std::string round_number(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? format_grouped(static_cast<std::int64_t>(value))
             : format_double(value);
}

/// An operation's errors by folds, as the file holds them.
struct FoldLine {
  std::string op;
  std::int64_t rows = 0, sites = 0;  ///< sites 0: one a row
  const Accuracy* errors = nullptr;
};

std::vector<FoldLine> fold_lines(const KernelSource& source) {
  constexpr std::array<std::string_view, 3> layers{"layer_prefill", "layer_window", "layer_decode"};
  std::vector<FoldLine> lines;
  const auto add = [&](std::string_view op, const auto& fitted, std::int64_t sites) {
    if (fitted.rows > 0) lines.push_back({std::string(op), fitted.rows, sites, &fitted.errors});
  };
  add("gemm", source.gemm, source.gemm.sites);
  add("gemm_misaligned", source.misaligned, source.misaligned.sites);
  for (const auto& [phase, ops] :
       {std::pair("prefill", &source.prefill), std::pair("decode", &source.decode)}) {
    for (std::size_t i = 0; i < ops->size(); ++i)
      add(fmt::format("{}{}", phase, kBackendSuffix[i]), (*ops)[i], (*ops)[i].sites);
  }
  for (std::size_t i = 0; i < kElementwiseOps; ++i) {
    add(to_string(static_cast<ElementwiseOp>(i)), source.elementwise[i], 0);
  }
  for (std::size_t i = 0; i < 3; ++i) add(layers[i], source.layers[i], source.layers[i].sites);
  for (const auto& one : source.operations) add(name_of(one->key), *one, one->sites);
  return lines;
}

Json sources_json(const Hardware& hardware) {
  Json out = Json::array();
  for (const auto& source : hardware.sources) {
    Json rows = Json::array();
    for (const RowFile& file : source->rows) {
      rows.push_back({{"file", file.name},
                      {"sha256", file.sha256},
                      {"licence", file.licence},
                      {"rows", file.rows},
                      {"rejected", file.rejected},
                      {"kernel_names", file.kernel_names}});
    }
    Json operations = Json::object();
    for (const FoldLine& line : fold_lines(*source)) {
      operations[line.op] = {{"rows", line.rows},
                             {"sites", line.sites > 0 ? Json(line.sites) : Json(nullptr)},
                             {"errors", accuracy_json(*line.errors)}};
    }
    out.push_back({{"name", source->name},
                   {"framework", source->framework},
                   {"rows", rows},
                   {"operations", operations},
                   {"kept_measurements", source->kept.size()},
                   {"budgets_mape_pct", source->budgets}});
  }
  return out;
}

std::string error_text(const std::optional<double>& figure) {
  return figure ? format_fixed(*figure, 2) : "–";
}

std::string source_text(const KernelSource& source, bool first, const Look& look) {
  std::string out =
      fmt::format("\n  kernel source {}{}\n    {}\n", styled(source.name, Style::bold, look.color),
                  first ? " (the default)" : "", source.framework);
  TextTable table{{{"operation"},
                   {"rows", Align::right},
                   {"sites", Align::right},
                   {"MAPE %", Align::right},
                   {"p90 %", Align::right},
                   {"band covers %", Align::right}},
                  {}};
  for (const FoldLine& line : fold_lines(source)) {
    table.rows.push_back({line.op, format_grouped(line.rows),
                          line.sites > 0 ? format_grouped(line.sites) : "–",
                          error_text(line.errors->mape_pct), error_text(line.errors->p90_pct),
                          error_text(line.errors->coverage_pct)});
  }
  out += render_text(table, look, 4);
  out += "    errors: by folds of sites that a fold's fit did not see\n";
  for (const RowFile& file : source.rows) {
    out +=
        fmt::format("    {}  {} {}, {} rejected, {}\n      sha256 {}\n", file.name, format_grouped(file.rows),
                    file.kernel_names ? "kernel names" : "rows", format_grouped(file.rejected),
                    file.licence.empty() ? "no licence named" : file.licence, file.sha256);
  }
  return out;
}

}  // namespace

Json hardware_json(const Hardware& hardware) {
  const DataSheet& s = hardware.sheet;
  Json models = Json::array();
  if (!hardware.sources.empty()) models.push_back("measured");
  if (hardware.proxy) models.push_back("proxy");
  return {{"name", hardware.name},
          {"models", models},
          {"sheet",
           {{"product", s.product},
            {"document", s.url_or_document},
            {"sm_count", s.sm_count},
            {"hbm_bandwidth_gbps", s.hbm_bandwidth_gbps},
            {"bf16_tflops", s.bf16_tflops},
            {"l2_bytes", s.l2_bytes},
            {"hbm_bytes", s.hbm_bytes}}},
          {"proxy", proxy_json(hardware)},
          {"sources", sources_json(hardware)}};
}

std::string hardware_list_text(std::span<const Hardware> all, const Look& look) {
  TextTable table{{{"name"},
                   {"product"},
                   {"SMs", Align::right},
                   {"GB/s", Align::right},
                   {"bf16 TFLOPS", Align::right},
                   {"known by"}},
                  {}};
  for (const Hardware& h : all) {
    table.rows.push_back({{h.name, Style::bold},
                          h.sheet.product,
                          std::to_string(h.sheet.sm_count),
                          round_number(h.sheet.hbm_bandwidth_gbps),
                          round_number(h.sheet.bf16_tflops),
                          {knowledge(h), h.sources.empty() ? Style::warn : Style::plain}});
  }
  return render_text(table, look);
}

std::string hardware_text(const Hardware& hardware, const Look& look) {
  const DataSheet& s = hardware.sheet;
  std::string out = fmt::format("{}  {}\n", styled(hardware.name, Style::bold, look.color), s.product);
  out += fmt::format("  data sheet   {} SMs, {} GB/s, {} TFLOPS bf16, L2 {} MiB, memory {} GB\n", s.sm_count,
                     round_number(s.hbm_bandwidth_gbps), round_number(s.bf16_tflops),
                     format_fixed(static_cast<double>(s.l2_bytes) / (1 << 20), 0),
                     format_fixed(static_cast<double>(s.hbm_bytes) / 1e9, 0));
  out += fmt::format("               from {}\n", s.url_or_document);
  if (hardware.proxy) {
    const ProxyConstants& p = *hardware.proxy;
    out += fmt::format("  proxy model  GEMM {} TFLOPS ({} small), attention {} TFLOPS\n",
                       round_number(p.matmul_tflops), round_number(p.matmul_tflops_small),
                       round_number(p.attention_tflops));
    out += fmt::format(
        "               GB/s: RMSNorm {} ({} small), QK-norm+RoPE {} ({} apart), GeGLU {}, residual add {}\n",
        round_number(p.rmsnorm_gbps), round_number(p.rmsnorm_gbps_small), round_number(p.qk_norm_rope_gbps),
        round_number(p.qk_norm_rope_separate_gbps), round_number(p.geglu_gbps),
        round_number(p.residual_add_gbps));
    out += fmt::format("               from {}\n", hardware.proxy_source);
  }
  for (const auto& source : hardware.sources) {
    out += source_text(*source, source == hardware.sources.front(), look);
  }
  if (hardware.sources.empty()) {
    out += styled("  nothing was measured on this GPU: predictions rest on specifications only\n",
                  Style::warn, look.color);
  }
  return out;
}

}  // namespace plumbline
