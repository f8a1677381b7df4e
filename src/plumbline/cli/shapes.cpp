// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "plumbline/base/files.h"
#include "plumbline/base/numbers.h"
#include "plumbline/cli/hf_file.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/search/model_cost.h"

namespace plumbline::cli {
namespace {

/// Refuses the rows that the model cannot cost, each with its reason.
void refuse_unsupported(LayerFile& file, const Predictor& predictor, const std::string& name) {
  const auto refused = [&](const LayerRow& row) {
    auto reason = unsupported(predictor, row.layer, {name, row.line, row.line > 0 ? 1 : 0});
    if (!reason) return false;
    if (name != "--layer") reason->message = fmt::format("row {}: {}", row.row, reason->message);
    detail::file_error(std::move(*reason), file);
    ++file.rows_refused;
    return true;
  };
  file.rows.erase(std::remove_if(file.rows.begin(), file.rows.end(), refused), file.rows.end());
}

/// What a model is called: its folder where the file is a config.json, else the file's stem.
std::string hf_name(const std::string& path, const Transformer& model) {
  const std::filesystem::path file(path);
  std::string name = file.stem().string();
  if (name == "config") name = file.parent_path().filename().string();
  return name.empty() || name == "." || name == ".." || name == "-" ? model.model_type : name;
}

}  // namespace

void add_model_options(Args& args, ModelOptions& options) {
  args.option("--hardware", options.hardware,
              "a GPU's name (plumbline hardware list) or a hardware file; h200")
      .choice("--model", options.model, {"proxy", "measured"},
              "the latency model; measured where the hardware file has kernels, else proxy")
      .option("--source", options.source, "a kernel source of the hardware file; its first one")
      .option("--sm-mhz", options.sm_mhz,
              "the SM clock of the card under load, where it was measured: predictions go by it");
}

Parsed<std::shared_ptr<const KernelSource>> source_at_clock(std::shared_ptr<const KernelSource> source,
                                                            double sm_mhz) {
  using Source = std::shared_ptr<const KernelSource>;
  if (!(sm_mhz >= 100) || sm_mhz > 10000)
    return failed<Source>(diagnose("usage", "--sm-mhz is a clock from 100 to 10,000 MHz"));
  if (source == nullptr || source->sm_mhz <= 0) {
    return failed<Source>(diagnose(
        "clock-not-known",
        source == nullptr
            ? "the proxy model has no clock"
            : fmt::format("no row of source '{}' says at which SM clock it was measured", source->name)));
  }
  return {at_clock(*source, sm_mhz), {}};
}

std::optional<LatencyModel> chosen_model(const ModelOptions& options) {
  if (options.model.empty()) return std::nullopt;
  return options.model == "proxy" ? LatencyModel::proxy : LatencyModel::measured;
}

std::vector<std::string> hardware_search_path() {
  std::error_code error;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", error);
  return hardware_directories(error ? "./plumbline" : binary.string());
}

Parsed<Predictor> load_predictor(const ModelOptions& options) {
  const auto hardware = load_hardware(options.hardware, hardware_search_path(), options.source);
  if (!hardware.ok()) return {std::nullopt, hardware.diagnostics};
  auto predictor = choose_predictor(*hardware.value, chosen_model(options), options.source);
  if (!predictor.ok() || !options.sm_mhz) return predictor;
  const auto source = source_at_clock(predictor.value->source, *options.sm_mhz);
  if (!source.ok()) return {std::nullopt, source.diagnostics};
  predictor.value->source = *source.value;
  return predictor;
}

void add_layer_options(Args& args, LayerOptions& options) {
  args.option(
          "--layer", options.layers,
          "a layer: hidden_dim=4096,num_heads=32,num_kv_heads=8,head_dim=128,ffn_dim=14336,… or a built-in's "
          "name; repeatable")
      .option("--configs", options.configs,
              "a file of layers: CSV, JSON or JSON Lines (- for standard input)")
      .choice("--phase", options.phase, {"prefill", "decode"}, "of layers that do not say; prefill")
      .choice("--backend", options.backend, {"best", "flash", "cudnn", "varlen", "flex"},
              "attention kernel of layers that do not say; best");
}

void add_threads_option(Args& args, std::optional<std::int64_t>& threads) {
  args.option("--threads", threads, "threads to predict with (1..256); the output does not depend on it");
}

unsigned thread_count(const std::optional<std::int64_t>& threads) {
  const char* variable = std::getenv("PLUMBLINE_THREADS");
  const auto wanted = threads ? threads : parse_int(variable == nullptr ? "" : variable);
  return wanted ? static_cast<unsigned>(std::clamp<std::int64_t>(*wanted, 1, 256)) : 0;
}

LayerDefaults layer_defaults(const LayerOptions& options) {
  LayerDefaults defaults;
  if (options.phase == "decode") defaults.phase = Phase::decode;
  using enum AttentionBackend;
  for (const AttentionBackend backend : {best, flash, cudnn, varlen, flex}) {
    if (options.backend == to_string(backend)) defaults.backend = backend;
  }
  return defaults;
}

LayerFile load_layers(const LayerOptions& options, const Predictor& predictor, std::string* used) {
  const LayerDefaults defaults = layer_defaults(options);
  LayerFile all;
  for (const std::string& text : options.layers) detail::file_row(parse_layer(text, defaults), 0, all);
  refuse_unsupported(all, predictor, "--layer");
  if (options.configs.empty()) return all;
  const auto text = read_text_file(options.configs, kMaxLayerFileBytes);
  if (!text.ok()) {
    for (const Diagnostic& diagnostic : text.diagnostics) detail::file_error(diagnostic, all);
    return all;
  }
  LayerFile file = read_layers(*text.value, options.configs, defaults);
  if (used != nullptr) *used = *text.value;
  refuse_unsupported(file, predictor, options.configs);
  for (Diagnostic& diagnostic : file.diagnostics) detail::file_error(std::move(diagnostic), all);
  all.errors += file.errors - static_cast<std::int64_t>(file.diagnostics.size());
  all.rows_read += file.rows_read;
  all.rows_refused += file.rows_refused;
  std::move(file.rows.begin(), file.rows.end(), std::back_inserter(all.rows));
  return all;
}

void add_hf_options(Args& args, HfOptions& options) {
  args.option("--hf", options.files, "a model's config.json: each kind of its layers; repeatable")
      .option("--seq-len", options.seq_len, "with --hf: prompt length, or KV length in decode; 2048")
      .option("--batch-size", options.batch_size, "with --hf: sequences; 1");
  add_deployment_options(args, options.deployment, "with --hf: ");
}

void add_deployment_options(Args& args, DeploymentOptions& options, const std::string& with) {
  args.option("--tp", options.tp, with + "GPUs of one host that share every layer; 1")
      .option("--ep", options.ep, with + "of them, groups that hold whole experts; 1")
      .choice("--dtype", options.dtype, {"bf16", "fp8", "fp8_block", "nvfp4", "int4_wo"},
              with + "of all projections; as the checkpoint keeps them")
      .choice("--kv-dtype", options.kv_dtype, {"bf16", "fp8"},
              with + "of the KV cache; as the checkpoint says");
}

bool is_given(const DeploymentOptions& options) {
  return options.tp || options.ep || !options.dtype.empty() || !options.kv_dtype.empty();
}

Parsed<Deployment> deployment_of(const DeploymentOptions& options) {
  Parsed<Deployment> result;
  Deployment deployment;
  const auto count = [&](std::string_view flag, const std::optional<std::int64_t>& given,
                         std::int64_t& target) {
    target = given.value_or(1);
    if (target >= 1 && target <= 1024) return;
    result.diagnostics.push_back(
        diagnose("usage", fmt::format("{} is {}, and must be from 1 to 1024", flag, target)));
  };
  count("--tp", options.tp, deployment.tp);
  count("--ep", options.ep, deployment.ep);
  if (!options.dtype.empty()) deployment.weights = find_dtype(options.dtype);
  if (!options.kv_dtype.empty()) deployment.cache = find_dtype(options.kv_dtype);
  if (result.diagnostics.empty()) result.value = deployment;
  return result;
}

Parsed<std::vector<HfLayer>> load_hf_layers(const HfOptions& options, const LayerOptions& layers,
                                            const Predictor& predictor) {
  const LayerDefaults defaults = layer_defaults(layers);
  const Workload workload{defaults.phase, options.seq_len.value_or(2048), options.batch_size.value_or(1),
                          defaults.backend, false};
  const auto deployment = deployment_of(options.deployment);
  if (!deployment.ok()) return {std::nullopt, deployment.diagnostics};
  std::vector<HfLayer> all;
  for (const std::string& path : options.files) {
    auto model = load_hf_config(path);
    if (!model.ok()) return {std::nullopt, model.diagnostics};
    model.value = as_deployed(*model.value, *deployment.value);
    auto cost = cost_model(predictor, *model.value, workload, *deployment.value);
    if (!cost.ok()) return {std::nullopt, std::move(cost.diagnostics)};
    if (!cost.value->untimed.empty()) {
      return failed<std::vector<HfLayer>>(
          diagnose("model-not-timed", fmt::format("{}: {}", model.value->model_type, cost.value->untimed),
                   {path, 0, 0}));
    }
    for (const LayerGroup& group : cost.value->groups) {
      HfLayer one{group.shape, group.indices.size(), model.value->vocab_size};
      one.layer.name =
          fmt::format("{}: {} x{}", hf_name(path, *model.value), layer_kind_text(group.layer), one.count);
      all.push_back(std::move(one));
    }
  }
  return {std::move(all), {}};
}

const HfLayer& most_common(const std::vector<HfLayer>& kinds) {
  return *std::max_element(kinds.begin(), kinds.end(),
                           [](const HfLayer& a, const HfLayer& b) { return a.count < b.count; });
}

void report_layer_errors(const Io& io, const LayerFile& layers) {
  io.report(layers.diagnostics);
  const auto more = layers.errors - static_cast<std::int64_t>(layers.diagnostics.size());
  if (more > 0) io.message(fmt::format("… and {} more errors", format_grouped(more)));
  if (layers.rows_refused > 0 && !layers.rows.empty()) {
    io.message(fmt::format("{} of {} rows refused; the other {} are complete",
                           format_grouped(layers.rows_refused), format_grouped(layers.rows_read),
                           format_grouped(static_cast<std::int64_t>(layers.rows.size()))));
  }
}

}  // namespace plumbline::cli
