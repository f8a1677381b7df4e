// SPDX-License-Identifier: Apache-2.0
// `plumbline arch predict`: what layers, or a whole model, cost kernel by kernel.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "plumbline/base/parallel.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/hf_file.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/report/prediction_json.h"
#include "plumbline/search/rank.h"

namespace plumbline::cli {
namespace {

constexpr std::size_t kDetailed = 3;  // more layers than this get one line each
constexpr std::size_t kChunk = 512;   // rows that one thread predicts at a time
constexpr std::size_t kChunksPerBlock = 64;

struct Options {
  ModelOptions model;
  LayerOptions layers;
  std::string hf;
  std::optional<std::int64_t> seq_len;
  std::optional<std::int64_t> batch_size;
  DeploymentOptions deployment;
  std::string logits;
  std::optional<std::int64_t> threads;
};

std::string row_text(const Io& io, const Predictor& predictor, const LayerRow& row, bool detail, bool first) {
  const Prediction prediction = predict(predictor, row.layer);
  if (!io.json) {
    return detail ? prediction_detail(predictor, row.layer, prediction, io.look())
                  : prediction_row(row.layer, prediction);
  }
  std::string text = first ? "\n" : ",\n";
  append_prediction_line(text, predictor, row.layer, row.row, prediction);
  return text;
}

/// Predicts chunk by chunk, a block of them at a time, and writes in input order. The chunks' buffers are
/// used again: a million rows need the memory of one block.
void write_rows(const Io& io, const Predictor& predictor, const std::vector<LayerRow>& rows,
                unsigned threads) {
  const bool detail = !io.json && rows.size() <= kDetailed;
  const std::size_t chunks = (rows.size() + kChunk - 1) / kChunk;
  if (threads == 0) threads = chunks < 4 ? 1 : std::max(1U, std::thread::hardware_concurrency());
  if (io.json) io.print("[");
  if (!io.json && !detail && !rows.empty()) io.print(prediction_row_head());
  std::vector<std::string> texts(std::min(chunks, kChunksPerBlock));
  for (std::size_t block = 0; block < chunks; block += kChunksPerBlock) {
    const std::size_t count = std::min(kChunksPerBlock, chunks - block);
    for_ranges(count, threads, [&](std::size_t from, std::size_t to) {
      for (std::size_t c = from; c < to; ++c) {
        texts[c].clear();
        const std::size_t begin = (block + c) * kChunk;
        for (std::size_t i = begin; i < std::min(begin + kChunk, rows.size()); ++i) {
          texts[c] += row_text(io, predictor, rows[i], detail, i == 0);
        }
      }
    });
    for (std::size_t c = 0; c < count; ++c) io.print(texts[c]);
  }
  if (io.json) io.print(rows.empty() ? "]\n" : "\n]\n");
}

int predict_layers(const Io& io, const Options& options, const Predictor& predictor) {
  if (options.layers.layers.empty() && options.layers.configs.empty()) {
    io.report({diagnose("usage", "nothing to predict: give --layer, --configs or --hf")});
    return kExitUsage;
  }
  if (options.seq_len || options.batch_size) {
    io.report({diagnose("usage", "--seq-len and --batch-size belong to --hf; layers say their own seq_len")});
    return kExitUsage;
  }
  if (is_given(options.deployment)) {
    io.report({diagnose(
        "usage", "--tp, --ep, --dtype and --kv-dtype belong to --hf; layers say their own tp=, dtype=")});
    return kExitUsage;
  }
  const LayerFile layers = load_layers(options.layers, predictor);
  if (layers.rows.empty()) {
    report_layer_errors(io, layers);
    return kExitUsage;
  }
  write_rows(io, predictor, layers.rows, thread_count(options.threads));
  report_layer_errors(io, layers);
  return layers.errors > 0 ? kExitUsage : kExitOk;
}

int predict_model(const Io& io, const Options& options, const Predictor& predictor) {
  if (!options.layers.layers.empty() || !options.layers.configs.empty()) {
    io.report({diagnose("usage", "--hf excludes --layer and --configs")});
    return kExitUsage;
  }
  const auto deployment = deployment_of(options.deployment);
  io.report(deployment.diagnostics);
  if (!deployment.ok()) return kExitUsage;
  auto model = load_hf_config(options.hf);
  io.report(model.diagnostics);
  if (!model.ok()) return kExitUsage;
  model.value = as_deployed(*model.value, *deployment.value);
  const LayerDefaults defaults = layer_defaults(options.layers);
  const Workload workload{defaults.phase, options.seq_len.value_or(2048), options.batch_size.value_or(1),
                          defaults.backend, options.logits == "all"};
  const auto cost = cost_model(predictor, *model.value, workload, *deployment.value);
  io.report(cost.diagnostics);
  if (!cost.ok()) return kExitUsage;
  if (io.json) {
    io.print_json(model_cost_json(predictor, *model.value, workload, *deployment.value, *cost.value));
  } else {
    io.print(model_cost_text(predictor, *model.value, workload, *deployment.value, *cost.value, io.look()));
  }
  return kExitOk;
}

int run(const Io& io, const Options& options) {
  const auto predictor = load_predictor(options.model);
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  return options.hf.empty() ? predict_layers(io, options, *predictor.value)
                            : predict_model(io, options, *predictor.value);
}

}  // namespace

void add_arch_predict(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args = arch.subcommand("predict", "what a layer, or a whole model, costs kernel by kernel");
  add_model_options(args, options->model);
  add_layer_options(args, options->layers);
  args.option("--hf", options->hf, "a model's config.json (Hugging Face), or the folder that holds it")
      .option("--seq-len", options->seq_len, "with --hf: prompt length, or KV length in decode; 2048")
      .option("--batch-size", options->batch_size, "with --hf: sequences; 1")
      .choice("--logits", options->logits, {"last", "all"},
              "with --hf: positions that reach the LM head in prefill; last");
  add_deployment_options(args, options->deployment, "with --hf: ");
  add_threads_option(args, options->threads);
  args.example("plumbline arch predict --hardware a100 --model proxy --layer llama3_8b,seq_len=4096");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
