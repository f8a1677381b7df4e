// SPDX-License-Identifier: Apache-2.0
// `plumbline arch cliffs`: where a layer's dimensions fall off a cliff, why, and the nearest better size.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/report/cliffs_report.h"
#include "plumbline/search/layer_fields.h"

namespace plumbline::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string layer;
  std::string phase;
  std::string backend;
  std::optional<std::int64_t> vocabulary;
};

int run(const Io& io, Options options) {
  if (options.model.model == "proxy") {
    io.report(
        {diagnose("usage", "the proxy's cliffs are not real: arch cliffs scans the measured model alone")});
    return kExitUsage;
  }
  options.model.model = "measured";
  const auto predictor = load_predictor(options.model);
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  const auto layer = parse_layer(options.layer.empty() ? "llama3_8b" : options.layer,
                                 layer_defaults({{}, {}, options.phase, options.backend}));
  io.report(layer.diagnostics);
  if (!layer.ok()) return kExitUsage;
  if (options.vocabulary && (*options.vocabulary < 1 || *options.vocabulary > (1 << 24))) {
    io.report({diagnose("usage", "--vocab must be from 1 to 16777216")});
    return kExitUsage;
  }
  const KernelSource& source = *predictor.value->source;
  std::vector<DimensionCliffs> found = layer_cliffs(source, *layer.value);
  if (options.vocabulary) {
    const Layer& l = *layer.value;
    const std::int64_t tokens = l.batch_size * (l.phase == Phase::decode ? 1 : l.seq_len);
    found.push_back(vocabulary_cliffs(source, tokens, l.hidden_dim, *options.vocabulary));
  }
  if (io.json) {
    io.print_json(cliffs_json(found));
  } else {
    io.print(cliffs_text(found, io.color_out));
  }
  return kExitOk;
}

}  // namespace

void add_arch_cliffs(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args =
      arch.subcommand("cliffs", "sizes that cost more than their work: why, and the nearest better size");
  add_model_options(args, options->model);
  args.option("--layer", options->layer, "the layer (fields or a built-in's name); a Llama-3-8B layer")
      .option("--vocab", options->vocabulary, "a vocabulary's size: the LM head is scanned too")
      .choice("--phase", options->phase, {"prefill", "decode"}, "of the layer; prefill")
      .choice("--backend", options->backend, {"best", "flash", "cudnn", "varlen"}, "attention kernel; best")
      .example("plumbline arch cliffs --layer llama3_8b,ffn_dim=14335 --vocab 50257");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
