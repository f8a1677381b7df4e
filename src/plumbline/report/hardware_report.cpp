// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/hardware_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
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
          {"proxy", proxy_json(hardware)}};
}

std::string hardware_list_text(std::span<const Hardware> all, bool color) {
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
  return render_text(table, color);
}

std::string hardware_text(const Hardware& hardware, bool color) {
  const DataSheet& s = hardware.sheet;
  std::string out = fmt::format("{}  {}\n", styled(hardware.name, Style::bold, color), s.product);
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
  if (hardware.sources.empty()) {
    out += styled("  nothing was measured on this GPU: predictions rest on specifications alone\n",
                  Style::warn, color);
  }
  return out;
}

}  // namespace plumbline
