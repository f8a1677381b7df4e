// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/serve/check_deployment.h"

namespace plumbline {
namespace {

constexpr double kGiB = 1 << 30;

/// Adds `times` of a step to a sum of steps, part by part.
void add_step(StepCost& sum, const StepCost& step, double times) {
  for (const StepPart& part : step.parts) {
    auto at = std::find_if(sum.parts.begin(), sum.parts.end(),
                           [&](const StepPart& each) { return each.name == part.name; });
    if (at == sum.parts.end()) {
      sum.parts.push_back({part.name, 0, 0, 0, part.provenance});
      at = std::prev(sum.parts.end());
    }
    at->ms += times * part.ms;
    at->low_ms += times * part.low_ms;
    at->high_ms += times * part.high_ms;
    at->provenance = std::max(at->provenance, part.provenance);
  }
  sum.ms += times * step.ms;
  sum.half_width = std::max(sum.half_width, step.half_width);
}

/// Simpson's rule over the cache as it grows: its first, middle and last length.
StepCost decode_step(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                     const Load& load, std::int64_t running) {
  const std::int64_t first = load.input_tokens + 1, last = load.input_tokens + load.output_tokens;
  StepCost sum;
  const auto at = [&](std::int64_t keys, double weight) {
    add_step(sum, cost_step(predictor, model, deployment, {running, keys, 0, 0, 0}), weight);
  };
  at(first, 1.0 / 6);
  at(first + (last - first) / 2, 4.0 / 6);
  at(last, 1.0 / 6);
  return sum;
}

StepCost prompt_steps(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                      const Load& load, const FrameworkConstants& framework, std::int64_t others) {
  StepCost sum;
  const std::int64_t keys = load.input_tokens + load.output_tokens / 2;
  for (const PromptPiece& piece : prompt_pieces(load.input_tokens, framework.step_tokens, others)) {
    const StepWork work{others, keys, 1, piece.tokens, piece.keys};
    add_step(sum, cost_step(predictor, model, deployment, work), 1);
  }
  return sum;
}

double roofline_tpot(const Predictor& predictor, const Transformer& model, const Deployment& deployment,
                     const Load& load, std::int64_t running) {
  const std::int64_t middle = load.input_tokens + std::max<std::int64_t>(load.output_tokens / 2, 1);
  const double decode = roofline_step_ms(predictor, model, deployment, {running, middle, 0, 0, 0});
  const double prompt =
      roofline_step_ms(predictor, model, deployment, {0, 1, 1, load.input_tokens, load.input_tokens});
  return decode + static_cast<double>(running) * prompt / static_cast<double>(load.output_tokens);
}

Banded banded(double ms, double half_width) {
  return {ms, ms * std::exp(-half_width), ms * std::exp(half_width)};
}

double both(double a, double b) { return std::sqrt(a * a + b * b); }

MemoryQuestion question_of(const Predictor& predictor, const Deployment& deployment, const Load& load,
                           const FrameworkConstants& framework, std::int64_t tokens) {
  MemoryQuestion q;
  q.gpu_bytes = predictor.memory_bytes;
  q.share = framework.memory_share;
  q.gpus = deployment.tp;
  q.rows = framework.step_tokens;
  q.logit_rows = load.concurrency;
  q.sequences = load.concurrency;
  q.sequence_tokens = tokens;
  return q;
}

Diagnostic too_large(const MemoryUse& use, const Load& load, std::int64_t gpus) {
  return diagnose(
      "serve-does-not-fit",
      fmt::format(
          "a GPU has {} GiB to use; weights take {}, activations {} and one request of {} tokens {}{}",
          format_fixed(use.usable_bytes / kGiB, 1), format_fixed(use.weight_bytes / kGiB, 1),
          format_fixed(use.activation_bytes / kGiB, 1), load.input_tokens + load.output_tokens,
          format_fixed(use.sequence_bytes / kGiB, 1),
          gpus > 1 ? fmt::format(", of each of {} GPUs", gpus) : ""));
}

}  // namespace

std::vector<PromptPiece> prompt_pieces(std::int64_t input_tokens, std::int64_t step_tokens,
                                       std::int64_t others) {
  const std::int64_t room = std::max<std::int64_t>(step_tokens - others, 1);
  std::vector<PromptPiece> pieces;
  for (std::int64_t done = 0; done < input_tokens;) {
    const std::int64_t tokens = std::min(room, input_tokens - done);
    done += tokens;
    pieces.push_back({tokens, done});
  }
  return pieces;
}

Parsed<ServeCost> serve(const Predictor& predictor, const Transformer& checkpoint,
                        const Deployment& deployment, const Load& load) {
  const FrameworkConstants* framework = find_framework(predictor.source_name);
  if (framework == nullptr) {
    return failed<ServeCost>(
        diagnose("serve-not-measured",
                 fmt::format("source '{}' is of no framework whose requests were measured (vllm is)",
                             predictor.source_name.empty() ? "proxy" : predictor.source_name)));
  }
  if (Diagnostics wrong = check_deployment(predictor, checkpoint, deployment); !wrong.empty())
    return {std::nullopt, std::move(wrong)};
  const Transformer model = as_deployed(checkpoint, deployment);
  ServeCost cost;
  cost.gpus = deployment.tp;
  const std::int64_t whole = load.input_tokens + load.output_tokens;
  const MemoryUse full = memory_use(model, question_of(predictor, deployment, load, *framework, whole));
  if (full.known && full.max_sequences < 1) return failed<ServeCost>(too_large(full, load, deployment.tp));
  // requests that started at different times are half answered on average
  const std::int64_t average = load.input_tokens + load.output_tokens / 2;
  MemoryQuestion question = question_of(predictor, deployment, load, *framework, average);
  cost.running = load.concurrency;
  if (full.known) cost.running = std::min(cost.running, memory_use(model, question).max_sequences);
  question.sequences = cost.running;
  cost.memory = memory_use(model, question);

  cost.decode = decode_step(predictor, model, deployment, load, cost.running);
  cost.prefill = prompt_steps(predictor, model, deployment, load, *framework, 0);
  const auto running = static_cast<double>(cost.running);
  const auto outputs = static_cast<double>(load.output_tokens);
  cost.host_ms = framework->step_us / 1e3;
  cost.prompts_ms = load.output_tokens > 1 ? running * cost.prefill.ms / outputs : 0;
  const double tpot = cost.decode.ms + cost.prompts_ms + cost.host_ms;

  const std::int64_t others = cost.running - 1;
  cost.own_prompt_ms = prompt_steps(predictor, model, deployment, load, *framework, others).ms;
  cost.step_wait_ms = others > 0 ? cost.decode.ms / 2 : 0;
  cost.request_host_ms = framework->first_token_us / 1e3;
  const double ahead = static_cast<double>(others) * cost.prefill.ms;
  const double busy = std::min(ahead / (outputs * tpot + cost.own_prompt_ms), 0.9);
  cost.queue_ms = framework->burst / 2 * ahead + busy / 2 / (1 - busy) * cost.prefill.ms;
  const double served = cost.own_prompt_ms + cost.step_wait_ms + cost.queue_ms + cost.request_host_ms;
  const double waiting = static_cast<double>(load.concurrency - cost.running) / running;
  cost.memory_wait_ms = waiting * (served + outputs * tpot);
  cost.tpot = banded(tpot, both(framework->tpot_half_width, cost.decode.half_width));
  cost.ttft = banded(served + cost.memory_wait_ms, both(framework->ttft_half_width, cost.prefill.half_width));
  cost.output_tokens_per_second =
      static_cast<double>(load.concurrency) * outputs / (cost.ttft.ms + (outputs - 1) * tpot) * 1e3;
  cost.roofline_tpot_ms = roofline_tpot(predictor, model, deployment, load, cost.running);
  return {std::move(cost), {}};
}

}  // namespace plumbline
