// SPDX-License-Identifier: Apache-2.0
// `plumbline arch sweep`: one dimension of a layer, size by size.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/page_output.h"
#include "plumbline/cli/progress.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/arch_json.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/search/builtin.h"

namespace plumbline::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string layer;
  std::string phase;
  std::string backend;
  HfOptions hf;
  std::vector<std::string> dims;
  std::string html;
};

/// The layer to start from: the commonest of --hf, --layer, or the built-in sweep's base where it has the
/// dimension.
Parsed<Layer> base_of(const Io& io, const Options& options, const Predictor& predictor,
                      const SweepRange& range) {
  const LayerOptions layer_options{{}, {}, options.phase, options.backend};
  const LayerDefaults defaults = layer_defaults(layer_options);
  if (!options.hf.files.empty()) {
    auto kinds = load_hf_layers(options.hf, layer_options, predictor);
    if (!kinds.ok()) return {std::nullopt, std::move(kinds.diagnostics)};
    const HfLayer& most = most_common(*kinds.value);
    if (kinds.value->size() > 1) io.message(fmt::format("sweeping {}", printable(most.layer.name)));
    return {most.layer, {}};
  }
  if (!options.layer.empty()) {
    if (auto whole = parse_layer(options.layer, defaults); whole.ok()) return whole;
    // The swept dimension need not be given: its first value stands in.
    return parse_layer(options.layer + "," + range.dimension + "=" + std::to_string(range.first), defaults);
  }
  for (const BuiltinSweep& builtin : builtin_sweeps()) {
    if (builtin.range.dimension != range.dimension) continue;
    Layer base = builtin.base;
    base.phase = defaults.phase;
    base.backend = defaults.backend;
    return {base, {}};
  }
  return parse_layer("llama3_8b", defaults);
}

int run(const Io& io, const Options& options) {
  const auto predictor = load_predictor(options.model);
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  if (options.dims.empty()) {
    io.report({diagnose("usage", "nothing to sweep: give --dim FIELD=FIRST:LAST:STEP")});
    return kExitUsage;
  }
  if (!options.hf.files.empty() && (!options.layer.empty() || options.hf.files.size() > 1)) {
    io.report({diagnose("usage", "one --hf, and then no --layer")});
    return kExitUsage;
  }
  std::vector<Sweep> sweeps;
  for (const std::string& dim : options.dims) {
    const auto range = parse_sweep(dim);
    io.report(range.diagnostics);
    if (!range.ok()) return kExitUsage;
    const auto base = base_of(io, options, *predictor.value, *range.value);
    io.report(base.diagnostics);
    if (!base.ok()) return kExitUsage;
    auto swept = [&] {
      Progress progress(io, "sweeping " + range.value->dimension, "sizes");
      return sweep(*predictor.value, *base.value, *range.value,
                   [&](std::size_t done, std::size_t all) { progress.update(done, all); });
    }();
    io.report(swept.diagnostics);
    if (!swept.ok()) return kExitUsage;
    sweeps.push_back(std::move(*swept.value));
  }
  if (!write_page(io, options.html, [&] { return html::sweep_page(*predictor.value, sweeps); }))
    return kExitUsage;
  if (io.json) {
    Json list = Json::array();
    for (const Sweep& each : sweeps) list.push_back(sweep_json(each));
    io.print_json(list);
  } else {
    for (const Sweep& each : sweeps) io.print(sweep_text(*predictor.value, each, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_arch_sweep(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args = arch.subcommand("sweep", "a dimension size by size: time, tile efficiency, waste");
  add_model_options(args, options->model);
  add_hf_options(args, options->hf);
  args.option("--dim", options->dims, "FIELD=FIRST:LAST:STEP, LAST included; repeatable")
      .option("--layer", options->layer,
              "the layer to start from (fields or a built-in's name); a Llama-3-8B layer")
      .choice("--phase", options->phase, {"prefill", "decode"}, "of the layer; prefill")
      .choice("--backend", options->backend, {"best", "flash", "cudnn", "varlen", "flex"},
              "attention kernel; best")
      .option("--html", options->html, "also write the sweeps as one HTML file that opens anywhere")
      .example("plumbline arch sweep --hardware a100 --model proxy --dim hidden_dim=3840:4352:32");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
