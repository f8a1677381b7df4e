// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/arch_text.h"

#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/arch_tables.h"
#include "plumbline/report/takeaways.h"
#include "plumbline/report/window_note.h"

namespace plumbline {
namespace {

std::string bullets(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += fmt::format("  - {}\n", line);
  return out;
}

std::string heading(std::string_view text, const Look& look) {
  return styled(text, Style::bold, look.color) + "\n";
}

std::string describe(const Layer& layer) {
  std::string out;
  for (const LayerField& field : layer_fields()) {
    if (field.member == &Layer::window_size && layer.window_size <= 0) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", field.name, layer.*field.member);
  }
  for (const PartValue& part : part_values(layer)) out += " " + detail::part_text(part);
  if (layer.use_qk_norm) out += " use_qk_norm=1";
  if (layer.phase == Phase::decode) out += " phase=decode";
  if (layer.activation == Activation::plain) out += " activation=plain";
  if (layer.backend != AttentionBackend::best) out += fmt::format(" backend={}", to_string(layer.backend));
  return out;
}

/// Several names as "0, 1, 2 …" or a range where they follow each other.
std::string layer_indices(const std::vector<std::size_t>& indices) {
  if (indices.size() > 1 && indices.back() - indices.front() + 1 == indices.size()) {
    return fmt::format("{}..{}", indices.front(), indices.back());
  }
  std::string out;
  for (std::size_t i = 0; i < indices.size() && i < 6; ++i)
    out += fmt::format("{}{}", i ? "," : "", indices[i]);
  return indices.size() > 6 ? out + ",…" : out;
}

TextTable parts_table(const ModelCost& cost) {
  TextTable table{{{"part"},
                   {"layers"},
                   {"count", Align::right},
                   {"ms each", Align::right},
                   {"ms", Align::right},
                   {"share", Align::right},
                   {"bottleneck or bound"}},
                  {}};
  const auto share = [&](double part) {
    return fmt::format("{} %", format_fixed(100 * part / cost.total_ms, 1));
  };
  const bool timed = cost.untimed.empty();
  for (const LayerGroup& group : cost.groups) {
    const std::string kind = layer_kind_text(group.layer);
    if (!timed) {
      table.rows.push_back(
          {kind, layer_indices(group.indices), std::to_string(group.indices.size()), "", "", "", ""});
      continue;
    }
    const Prediction& p = group.prediction;
    const auto count = static_cast<double>(group.indices.size());
    table.rows.push_back({kind, layer_indices(group.indices), std::to_string(group.indices.size()),
                          format_fixed(p.total_ms, 3), format_fixed(count * p.total_ms, 3),
                          share(count * p.total_ms), std::string(p.kernels()[p.bottleneck].name)});
  }
  for (const KernelTime* part : {&cost.embedding, &cost.final_norm, &cost.lm_head, &cost.logits_all_gather}) {
    if (!timed || !(part->ms > 0)) continue;
    table.rows.push_back({std::string(part->name), "", "1", format_fixed(part->ms, 3),
                          format_fixed(part->ms, 3), share(part->ms), std::string(to_string(part->bound))});
  }
  return table;
}

}  // namespace

std::string layer_kind_text(const TransformerLayer& layer) {
  std::string out = layer.state_bytes > 0         ? "recurrent"
                    : !layer.has_attention        ? "no attention"
                    : layer.latent.kv_rank > 0    ? "latent attention"
                    : layer.shape.window_size > 0 ? fmt::format("sliding {}", layer.shape.window_size)
                                                  : "full attention";
  if (layer.experts.count > 0)
    out += fmt::format(", {} experts ({} active)", layer.experts.count, layer.experts.active);
  if (!layer.has_mlp) out += ", no MLP";
  const WeightFormat& p = layer.experts.count > 0 ? layer.experts_precision : layer.mlp;
  if (p.name != "bf16") out += fmt::format(", {}", p.name);
  return out;
}

std::string with_prefix(double value) {
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
  std::size_t i = 0;
  while (value >= 1000 && i + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++i;
  }
  return fmt::format("{} {}", format_fixed(value, 3), kPrefixes[i]);
}

std::string prediction_detail(const Predictor& predictor, const Layer& layer, const Prediction& prediction,
                              const Look& look) {
  std::string out =
      heading(fmt::format("{}  ({})", printable(layer.name), detail::gpu_title(predictor)), look);
  out += fmt::format("  {}\n\n", describe(layer));
  TextTable kernels = detail::kernel_table(predictor, layer, prediction);
  std::vector<double> shares;
  for (const KernelTime& kernel : prediction.kernels()) shares.push_back(kernel.ms / prediction.total_ms);
  add_bars(kernels, look, 2, shares);
  out += render_text(kernels, look, 2);
  out += '\n';
  for (const TilePenalty& tile : prediction.tile_penalties) {
    if (tile.aligned_128) continue;
    out += fmt::format("  {} {}: no multiple of 128, tile efficiency {}, {} % of the tile work wasted\n",
                       tile.dimension, tile.value, format_fixed(tile.efficiency, 3),
                       format_fixed(tile.wasted_work_pct, 1));
  }
  if (const std::string note = window_note(predictor, layer); !note.empty()) {
    out += fmt::format("  note: {}\n", note);
  }
  return out;
}

std::string prediction_row_head() {
  return fmt::format("{:<32} {:>14} {:>14} {:>14}  {}\n", "layer", "total ms", "low ms", "high ms",
                     "bottleneck");
}

std::string prediction_row(const Layer& layer, const Prediction& prediction) {
  return fmt::format("{:<32} {:>14} {:>14} {:>14}  {}\n", cut_middle(printable(layer.name), 32),
                     format_fixed(prediction.total_ms, 6), format_fixed(prediction.low_ms, 6),
                     format_fixed(prediction.high_ms, 6), prediction.kernels()[prediction.bottleneck].name);
}

namespace {

/// What of the GPU's memory is needed, and how much more would fit.
std::string memory_lines(const MemoryUse& m, const Workload& workload) {
  if (!m.known) return "";
  const auto gib = [](double bytes) { return format_fixed(bytes / (1 << 30), 2); };
  std::string out =
      fmt::format("  memory              {} of {} GiB: weights {}, cache {}, activations about {}\n",
                  gib(m.needed_bytes()), gib(m.usable_bytes), gib(m.weight_bytes), gib(m.cache_bytes),
                  gib(m.activation_bytes));
  if (!m.fits) out += "  does not fit        the times below are those of a GPU with more memory\n";
  if (m.sequence_bytes > 0)
    out += fmt::format("  room for            {} sequences of {} tokens\n", format_grouped(m.max_sequences),
                       format_grouped(workload.seq_len));
  return out;
}

}  // namespace

std::string model_cost_text(const Predictor& predictor, const Transformer& model, const Workload& workload,
                            const Deployment& deployment, const ModelCost& cost, const Look& look) {
  std::string out = heading(
      fmt::format("{}, {} layers  ({})", model.model_type, model.layers.size(), detail::gpu_title(predictor)),
      look);
  if (deployment.tp > 1) {
    out += fmt::format("  laid out            over {} GPUs{}\n", deployment.tp,
                       deployment.ep > 1 ? fmt::format(", experts in {} groups", deployment.ep) : "");
  }
  out += fmt::format("  parameters          {}{}\n", format_grouped(parameter_count(model)),
                     model.tied_embeddings ? "  (embedding tied)" : "");
  if (active_parameter_count(model) != parameter_count(model)) {
    out += fmt::format("  active              {}\n", format_grouped(active_parameter_count(model)));
  }
  if (!model.quantization.empty()) {
    out += fmt::format("  weights             {} GiB ({})\n",
                       format_fixed(weight_bytes(model) / (1 << 30), 2), model.quantization);
  }
  if (state_bytes(model) > 0) {
    out += fmt::format("  state               {} bytes a sequence\n", format_grouped(state_bytes(model)));
  }
  out += fmt::format("  KV cache            {} bytes a token; {} GiB at {} x {} tokens\n",
                     format_grouped(kv_bytes_per_token(model)),
                     format_fixed(static_cast<double>(kv_bytes(model, workload.seq_len)) *
                                      static_cast<double>(workload.batch_size) / (1 << 30),
                                  5),
                     workload.batch_size, workload.seq_len);
  out += memory_lines(cost.memory, workload);
  out += fmt::format("  {:<8}            {}FLOP, causal\n\n", to_string(workload.phase),
                     with_prefix(static_cast<double>(cost.flops)));
  out += render_text(parts_table(cost), look, 2);
  if (!cost.untimed.empty()) {
    out += fmt::format("\n  no time: {}\n", cost.untimed);
    for (const std::string& note : model.notes) out += fmt::format("  note: {}\n", note);
    return out;
  }
  out += fmt::format("\n  {} ms", format_fixed(cost.total_ms, 3));
  if (cost.low_ms != cost.high_ms) {
    out += fmt::format(" (band {} - {})", format_fixed(cost.low_ms, 3), format_fixed(cost.high_ms, 3));
  }
  out += fmt::format(", {} tokens/s\n", format_grouped(static_cast<std::int64_t>(cost.tokens_per_second)));
  for (const std::string& note : cost_notes(predictor, cost)) out += fmt::format("  note: {}\n", note);
  for (const std::string& note : model.notes) out += fmt::format("  note: {}\n", note);
  return out;
}

std::string ranking_text(const Predictor& predictor, std::span<const Layer> layers,
                         std::span<const Score> scores, std::span<const std::size_t> order, Metric metric,
                         const Look& look) {
  std::string out =
      heading(fmt::format("Ranked by {}  ({})", to_string(metric), detail::gpu_title(predictor)), look) +
      render_text(detail::ranking_table(layers, scores, order), look, 2);
  constexpr std::size_t kMostNotes = 5;
  std::size_t notes = 0;
  for (std::size_t i = 0; i < order.size() && notes < kMostNotes; ++i) {
    const std::string note = window_note(predictor, layers[order[i]]);
    if (note.empty()) continue;
    out += fmt::format("  note: {}\n", note);
    ++notes;
  }
  return out;
}

std::string sweep_text(const Predictor& predictor, const Sweep& sweep, const Look& look) {
  std::string out =
      heading(fmt::format("{}  ({})", detail::sweep_title(sweep), detail::gpu_title(predictor)), look);
  out += render_text(detail::sweep_table(sweep), look, 2);
  if (sweep.values_refused > 0) {
    out += fmt::format("  {} sizes make no valid layer and are left out\n", sweep.values_refused);
  }
  return out + "\n";
}

std::string arch_report_text(const ArchReport& report, const Look& look) {
  std::string out;
  if (report.preset) {
    out += heading(detail::preset_title(*report.preset), look);
    out += render_text(detail::preset_table(report), look, 2) + "\n";
  }
  for (const GpuReport& gpu : report.gpus) {
    out += heading(fmt::format("Layers  ({})", detail::gpu_title(gpu.predictor)), look);
    out += render_text(detail::layer_table(report, gpu), look, 2) + "\n";
    const auto scores = detail::scores_of(gpu);
    for (std::size_t m = kReportMetrics.size(); m-- > 0;) {
      out +=
          ranking_text(gpu.predictor, report.layers, scores, gpu.rankings[m], kReportMetrics[m], look) + "\n";
    }
    for (const Sweep& sweep : gpu.cliffs) out += sweep_text(gpu.predictor, sweep, look);
    out += heading(fmt::format("What {} shows", gpu.predictor.hardware), look);
    out += bullets(takeaways(report, gpu)) + "\n";
  }
  if (!report.agreement.empty()) {
    out += heading(detail::agreement_title(report), look) +
           render_text(detail::agreement_table(report), look, 2);
    out += bullets(agreement_takeaways(report)) + "\n";
  }
  for (const LeftOut& each : report.left_out) {
    out += fmt::format("left out: {} ({})\n", each.hardware, each.reason);
  }
  return out;
}

std::string arch_report_markdown(const ArchReport& report) {
  std::string out = "# Layer latency report\n";
  const auto list = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out += fmt::format("- {}\n", markdown_text(line));
  };
  if (report.preset) {
    out += fmt::format("\n## {}\n\n", detail::preset_title(*report.preset)) +
           render_markdown(detail::preset_table(report));
  }
  for (const GpuReport& gpu : report.gpus) {
    out += fmt::format("\n## {}\n\n", markdown_text(detail::gpu_title(gpu.predictor)));
    list(takeaways(report, gpu));
    out += "\n" + render_markdown(detail::layer_table(report, gpu));
    const auto scores = detail::scores_of(gpu);
    for (std::size_t m = kReportMetrics.size(); m-- > 0;) {
      out += fmt::format("\n### Ranked by {}\n\n", to_string(kReportMetrics[m]));
      out += render_markdown(detail::ranking_table(report.layers, scores, gpu.rankings[m]));
    }
    for (const Sweep& sweep : gpu.cliffs) {
      out += fmt::format("\n### {}\n\n", markdown_text(detail::sweep_title(sweep))) +
             render_markdown(detail::sweep_table(sweep));
    }
  }
  if (!report.agreement.empty()) {
    out += fmt::format("\n## {}\n\n", detail::agreement_title(report)) +
           render_markdown(detail::agreement_table(report)) + "\n";
    list(agreement_takeaways(report));
  }
  for (const LeftOut& each : report.left_out) {
    out += fmt::format("\nLeft out: {} ({}).\n", markdown_text(each.hardware), markdown_text(each.reason));
  }
  return out;
}

}  // namespace plumbline
