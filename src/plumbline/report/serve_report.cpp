// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/serve_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/report/arch_tables.h"
#include "plumbline/report/prediction_json.h"

namespace plumbline {
namespace {

std::string time_line(std::string_view name, const Banded& time) {
  return fmt::format("  {:<22}{:>10} ms  ({} - {})\n", name, format_fixed(time.ms, 3),
                     format_fixed(time.low_ms, 3), format_fixed(time.high_ms, 3));
}

/// What the time waits for, in order; parts of no time are left out.
struct Waits {
  std::string_view name, key;
  double ms;
};

std::vector<Waits> first_token_waits(const ServeCost& cost) {
  return {{"its own prompt", "prompt", cost.own_prompt_ms},
          {"a step that has begun", "step_wait", cost.step_wait_ms},
          {"prompts before it", "queue", cost.queue_ms},
          {"room in memory", "memory_wait", cost.memory_wait_ms},
          {"the framework", "framework", cost.request_host_ms}};
}

std::vector<Waits> token_waits(const ServeCost& cost) {
  return {{"its own step", "step", cost.decode.ms},
          {"prompts of others", "prompts", cost.prompts_ms},
          {"the framework", "framework", cost.host_ms}};
}

std::string waits_text(const std::vector<Waits>& waits) {
  std::string out;
  for (const Waits& each : waits) {
    if (each.ms > 0) out += fmt::format("    {:<20}{:>10} ms\n", each.name, format_fixed(each.ms, 3));
  }
  return out;
}

std::string part_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

TextTable parts_table(const StepCost& step) {
  TextTable table;
  table.columns = {{"kernels"}, {"ms", Align::right}, {"share", Align::right}, {"source"}};
  for (const StepPart& part : step.parts) {
    table.rows.push_back({part_name(part.name), format_fixed(part.ms, 3),
                          fmt::format("{} %", format_fixed(100 * part.ms / step.ms, 1)),
                          std::string(to_string(part.provenance))});
  }
  return table;
}

Json waits_json(const std::vector<Waits>& waits) {
  Json out = Json::object();
  for (const Waits& each : waits) out[std::string(each.key)] = each.ms;
  return out;
}

Json step_json(const StepCost& step) {
  Json kernels = Json::object();
  for (const StepPart& part : step.parts) {
    kernels[part.name] = {{"ms", part.ms},
                          {"low_ms", part.low_ms},
                          {"high_ms", part.high_ms},
                          {"provenance", to_string(part.provenance)}};
  }
  return {{"ms", step.ms}, {"kernels", kernels}};
}

double per_gpu(const ServeCost& cost) {
  return cost.output_tokens_per_second / static_cast<double>(cost.gpus);
}

std::string formats_text(const Transformer& model, const Deployment& deployment) {
  const std::string weights = deployment.weights           ? std::string(to_string(*deployment.weights))
                              : model.quantization.empty() ? "bf16"
                                                           : fmt::format("as kept ({})", model.quantization);
  return fmt::format("weights {}, cache {}", weights, to_string(cache_format(model, deployment)));
}

}  // namespace

std::string serve_text(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                       const Load& load, const ServeCost& cost, const Look& look) {
  std::string gpus = deployment.tp > 1 ? fmt::format("{} x ", deployment.tp) : "";
  std::string out = styled(fmt::format("{} served by {} on {}{}", model.model_type, predictor.source_name,
                                       gpus, predictor.hardware),
                           Style::bold, look.color);
  out += fmt::format("\n  {} clients, {} tokens in and {} out each; {}\n\n", format_grouped(load.concurrency),
                     format_grouped(load.input_tokens), format_grouped(load.output_tokens),
                     formats_text(model, deployment));
  out += time_line("first token (TTFT)", cost.ttft) + waits_text(first_token_waits(cost));
  out += time_line("token after it (TPOT)", cost.tpot) + waits_text(token_waits(cost));
  out += fmt::format("  {:<22}{:>10} tokens/s a GPU, {} in all\n\n", "output", format_fixed(per_gpu(cost), 1),
                     format_fixed(cost.output_tokens_per_second, 1));
  out += "  a step of one token each:\n" + render_text(parts_table(cost.decode), look, 2);
  const MemoryUse& m = cost.memory;
  const auto gib = [](double bytes) { return format_fixed(bytes / (1 << 30), 1); };
  if (m.known) {
    out += fmt::format("\n  memory of a GPU: {} of {} GiB (weights {}, cache {}, activations about {})\n",
                       gib(m.needed_bytes()), gib(m.usable_bytes), gib(m.weight_bytes), gib(m.cache_bytes),
                       gib(m.activation_bytes));
  }
  if (cost.running < load.concurrency) {
    out += fmt::format("  note: {} requests fit at once; the others wait for room\n",
                       format_grouped(cost.running));
  }
  for (const std::string& note : model.notes) out += fmt::format("  note: {}\n", note);
  return out;
}

Json serve_json(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                const Load& load, const ServeCost& cost) {
  const auto layer_formats = formats_of(model.layers.back(), deployment);
  return {{"model_type", model.model_type},
          {"hardware", predictor.hardware},
          {"source", predictor.source_name},
          {"tp", deployment.tp},
          {"ep", deployment.ep},
          {"input_tokens", load.input_tokens},
          {"output_tokens", load.output_tokens},
          {"concurrency", load.concurrency},
          {"running", cost.running},
          {"formats",
           {{"attention", to_string(layer_formats->attention)},
            {"mlp",
             to_string(model.layers.back().experts.count > 0 ? layer_formats->experts : layer_formats->mlp)},
            {"cache", to_string(cache_format(model, deployment))}}},
          {"ttft_ms", cost.ttft.ms},
          {"ttft_low_ms", cost.ttft.low_ms},
          {"ttft_high_ms", cost.ttft.high_ms},
          {"tpot_ms", cost.tpot.ms},
          {"tpot_low_ms", cost.tpot.low_ms},
          {"tpot_high_ms", cost.tpot.high_ms},
          {"ttft_parts_ms", waits_json(first_token_waits(cost))},
          {"tpot_parts_ms", waits_json(token_waits(cost))},
          {"output_tokens_per_second", cost.output_tokens_per_second},
          {"output_tokens_per_second_per_gpu", per_gpu(cost)},
          {"decode_step", step_json(cost.decode)},
          {"prefill", step_json(cost.prefill)},
          {"roofline_tpot_ms", cost.roofline_tpot_ms},
          {"memory", memory_json(cost.memory)},
          {"notes", model.notes}};
}

}  // namespace plumbline
