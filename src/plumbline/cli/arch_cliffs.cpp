// SPDX-License-Identifier: Apache-2.0
// `plumbline arch cliffs`: where a layer's dimensions fall off a cliff, why, and the nearest better size.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/report/cliffs_report.h"
#include "plumbline/search/layer_fields.h"

namespace plumbline::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string layer;
  HfOptions hf;
  std::string phase;
  std::string backend;
  std::optional<std::int64_t> vocabulary;
  std::string gemm;
};

/// "m=2048,n=4001,k=4096" in any order.
std::optional<GemmShape> parse_gemm(const std::string& text) {
  GemmShape shape{0, 0, 0};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const auto value = part.size() > 2 && part[1] == '=' ? parse_int(part.substr(2)) : std::nullopt;
    if (!value || *value < 1 || *value > (1 << 27)) return std::nullopt;
    std::int64_t* const target = part[0] == 'm'   ? &shape.m
                                 : part[0] == 'n' ? &shape.n
                                 : part[0] == 'k' ? &shape.k
                                                  : nullptr;
    if (target == nullptr || *target != 0) return std::nullopt;
    *target = *value;
  }
  return shape.m > 0 && shape.n > 0 && shape.k > 0 ? std::optional(shape) : std::nullopt;
}

void print(const Io& io, const std::vector<DimensionCliffs>& found) {
  if (io.json) {
    io.print_json(cliffs_json(found));
  } else {
    io.print(cliffs_text(found, io.look()));
  }
}

int run_gemm(const Io& io, const Options& options, const KernelSource& source) {
  const auto shape = parse_gemm(options.gemm);
  if (!shape || !options.layer.empty() || !options.hf.files.empty() || options.vocabulary) {
    io.report({diagnose("usage", shape ? "--gemm excludes --layer, --hf and --vocab"
                                       : "--gemm must be m=…,n=…,k=… with sizes from 1 to 134217728")});
    return kExitUsage;
  }
  print(io, gemm_cliffs(source, *shape));
  return kExitOk;
}

/// The layer to scan: --layer, or the commonest of --hf, whose vocabulary is scanned too.
Parsed<Layer> layer_of(const Io& io, Options& options, const Predictor& predictor) {
  const LayerOptions layer_options{{}, {}, options.phase, options.backend};
  if (options.hf.files.empty()) {
    return parse_layer(options.layer.empty() ? "llama3_8b" : options.layer, layer_defaults(layer_options));
  }
  if (options.hf.files.size() > 1 || !options.layer.empty())
    return failed<Layer>(diagnose("usage", "one --hf, and then no --layer"));
  auto kinds = load_hf_layers(options.hf, layer_options, predictor);
  if (!kinds.ok()) return {std::nullopt, std::move(kinds.diagnostics)};
  const HfLayer& most = most_common(*kinds.value);
  if (!options.vocabulary) options.vocabulary = most.vocab_size;
  if (kinds.value->size() > 1) io.message(fmt::format("scanning {}", printable(most.layer.name)));
  return {most.layer, {}};
}

int run(const Io& io, Options options) {
  if (options.model.model == "proxy") {
    io.report(
        {diagnose("usage", "the proxy's cliffs are not real: arch cliffs scans the measured model only")});
    return kExitUsage;
  }
  options.model.model = "measured";
  const auto predictor = load_predictor(options.model);
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  if (!options.gemm.empty()) return run_gemm(io, options, *predictor.value->source);
  const auto layer = layer_of(io, options, *predictor.value);
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
  print(io, found);
  return kExitOk;
}

}  // namespace

void add_arch_cliffs(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args =
      arch.subcommand("cliffs", "sizes that cost more than their work: why, and the nearest better size");
  add_model_options(args, options->model);
  add_hf_options(args, options->hf);
  args.option("--layer", options->layer, "the layer (fields or a built-in's name); a Llama-3-8B layer")
      .option("--vocab", options->vocabulary, "a vocabulary's size: the LM head is scanned too")
      .option("--gemm", options->gemm, "m=…,n=…,k=…: a GEMM y[m,n] = x[m,k]·w[n,k] is scanned, and no layer")
      .choice("--phase", options->phase, {"prefill", "decode"}, "of the layer; prefill")
      .choice("--backend", options->backend, {"best", "flash", "cudnn", "varlen", "flex"},
              "attention kernel; best")
      .example("plumbline arch cliffs --layer llama3_8b,ffn_dim=14335 --vocab 50257");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
