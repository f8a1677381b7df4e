// SPDX-License-Identifier: Apache-2.0
// `plumbline arch report`: the artifact that a CI keeps and compares, its Markdown summary, and the tables.
#include "plumbline/search/arch_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "plumbline/base/files.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/provenance.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/html/pages.h"
#include "plumbline/model/measured.h"
#include "plumbline/report/arch_json.h"
#include "plumbline/report/arch_text.h"
#include "plumbline/search/builtin.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::vector<std::string> hardware;
  bool all_hardware = false;
  ModelOptions model;  ///< its hardware is not used: see above
  LayerOptions layers;
  std::string preset;
  std::string schema;
  std::string json_output;
  std::string md_output;
  std::string html;
  std::string provenance_output;
  std::optional<std::int64_t> threads;

  bool noeris() const { return schema == "noeris-1"; }
};

/// The GPUs of a report, those that were left out, and the files read.
struct Gpus {
  std::vector<Predictor> predictors;
  std::vector<LeftOut> left_out;
  std::vector<ProvenanceFile> inputs;
};

Diagnostics usage_errors(const Options& options) {
  Diagnostics wrong;
  const auto refuse = [&](const char* message) { wrong.push_back(diagnose("usage", message)); };
  if (options.all_hardware && !options.hardware.empty()) refuse("--all-hardware stands for every --hardware");
  if (options.noeris() && (options.all_hardware || options.hardware.size() > 1)) {
    refuse("--schema noeris-1 describes one GPU: give one --hardware");
  }
  if (options.noeris() && options.model.model == "measured") {
    refuse("--schema noeris-1 is the proxy model's artifact: leave --model out");
  }
  if (options.noeris() && !options.preset.empty())
    refuse("--schema noeris-1 has no place for a preset: leave --preset out");
  if (options.noeris() && !options.md_output.empty())
    refuse("--schema noeris-1 is JSON: leave --md-output out");
  return wrong;
}

/// load_hardware(), and the file as it was read: what the provenance names are the bytes that were used.
Parsed<Hardware> load_hardware(const std::string& name, const std::vector<std::string>& directories,
                               ProvenanceFile& used, std::optional<std::string_view> only) {
  const auto path = find_hardware_file(name, directories);
  if (!path.ok()) return {std::nullopt, path.diagnostics};
  auto text = read_text_file(*path.value);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  used = {*path.value, std::move(*text.value)};
  return parse_hardware(used.content, used.path, std::filesystem::path(used.path).parent_path().string(),
                        only);
}

/// Rows that a source's GEMMs and attention were fitted to: how much it knows.
std::int64_t rows_of(const KernelSource& source) {
  std::int64_t rows = source.gemm.rows + source.misaligned.rows;
  for (const FittedOp& op : source.prefill) rows += op.rows;
  for (const FittedOp& op : source.decode) rows += op.rows;
  return rows;
}

/// The kernel source by which several GPUs compare: the one that most of them have, and of two the one that
/// knows more of the GPU of which it knows least. Empty where no two GPUs share one.
std::string common_source(const std::vector<Hardware>& all) {
  std::string best;
  std::pair<std::size_t, std::int64_t> most{1, std::numeric_limits<std::int64_t>::max()};
  for (const Hardware& hardware : all) {
    for (const auto& candidate : hardware.sources) {
      std::pair<std::size_t, std::int64_t> has{0, std::numeric_limits<std::int64_t>::max()};
      for (const Hardware& other : all) {
        const auto source = find_source(other, candidate->name);
        if (source == nullptr) continue;
        has.first += 1;
        has.second = std::min(has.second, rows_of(*source));
      }
      if (has <= most) continue;
      most = has;
      best = candidate->name;
    }
  }
  return best;
}

Parsed<Gpus> load_gpus(const Options& options) {
  const auto directories = hardware_search_path();
  std::vector<std::string> names = options.hardware;
  if (options.all_hardware) names = hardware_names(directories);
  if (names.empty()) names.push_back(options.model.hardware);
  const auto model = options.noeris() ? std::optional(LatencyModel::proxy) : chosen_model(options.model);
  Parsed<Gpus> result;
  Gpus gpus;
  std::vector<Hardware> all;
  const bool choose = names.size() > 1 && options.model.source.empty() && model != LatencyModel::proxy;
  const auto only = choose ? std::nullopt : std::optional<std::string_view>(options.model.source);
  for (const std::string& name : names) {
    ProvenanceFile used;
    auto hardware = load_hardware(name, directories, used, only);
    result.diagnostics.insert(result.diagnostics.end(), hardware.diagnostics.begin(),
                              hardware.diagnostics.end());
    if (!hardware.ok()) continue;
    gpus.inputs.push_back(std::move(used));
    all.push_back(std::move(*hardware.value));
  }
  const std::string common = choose ? common_source(all) : options.model.source;
  for (const Hardware& hardware : all) {
    const bool lacks = choose && find_source(hardware, common) == nullptr;
    auto predictor = choose_predictor(hardware, model, lacks ? "" : common);
    if (predictor.ok()) {
      gpus.predictors.push_back(std::move(*predictor.value));
      result.diagnostics.insert(result.diagnostics.end(), predictor.diagnostics.begin(),
                                predictor.diagnostics.end());
    } else if (options.all_hardware) {
      gpus.left_out.push_back({hardware.name, predictor.diagnostics.front().message});
    } else {
      result.diagnostics.push_back(predictor.diagnostics.front());
    }
  }
  if (!has_errors(result.diagnostics) && gpus.predictors.empty()) {
    result.diagnostics.push_back(
        diagnose("model-not-available", "no hardware file has what the model needs"));
  }
  if (!has_errors(result.diagnostics)) result.value = std::move(gpus);
  return result;
}

/// The layers of the report: the user's, or the built-in ones and the preset's candidates. An artifact is
/// whole: one bad row refuses it.
Parsed<std::vector<Layer>> layers_of(const Io& io, const Options& options, Gpus& gpus) {
  if (options.layers.layers.empty() && options.layers.configs.empty()) {
    std::vector<Layer> layers(builtin_layers().begin(), builtin_layers().end());
    for (Layer& each : preset_candidates(options.preset)) layers.push_back(std::move(each));
    return {std::move(layers), {}};
  }
  std::string used;
  LayerFile file = load_layers(options.layers, gpus.predictors.front(), &used);
  if (!options.layers.configs.empty()) gpus.inputs.push_back({options.layers.configs, std::move(used)});
  if (file.errors > 0) {
    report_layer_errors(io, file);
    return {};
  }
  std::vector<Layer> layers;
  for (LayerRow& row : file.rows) {
    if (options.noeris() && row.layer.activation == Activation::plain) {
      return failed<std::vector<Layer>>(
          diagnose("layer-field-invalid",
                   fmt::format("layer '{}': --schema noeris-1 knows only gated layers", row.layer.name)));
    }
    layers.push_back(std::move(row.layer));
  }
  return {std::move(layers), {}};
}

/// Builds and writes what was asked for and nothing else.
Diagnostics write_outputs(const Io& io, const Options& options, const ArchReport& report, const Gpus& gpus) {
  std::vector<ProvenanceFile> outputs;
  if (!options.json_output.empty() || io.json) {
    std::string artifact = write_json(options.noeris() ? noeris_report_json(report, report.gpus.front())
                                                       : arch_report_json(report));
    if (io.json) io.print(artifact);
    if (!options.json_output.empty()) outputs.push_back({options.json_output, std::move(artifact)});
  }
  if (!options.md_output.empty()) outputs.push_back({options.md_output, arch_report_markdown(report)});
  if (!options.html.empty()) outputs.push_back({options.html, html::arch_report_page(report)});
  if (!io.json && outputs.empty()) io.print(arch_report_text(report, io.look()));
  for (const ProvenanceFile& output : outputs) {
    if (Diagnostics wrong = write_file(output.path, output.content); !wrong.empty()) return wrong;
  }
  if (options.provenance_output.empty()) return {};
  return write_provenance(options.provenance_output, gpus.inputs, outputs);
}

int run(const Io& io, const Options& options) {
  if (const Diagnostics wrong = usage_errors(options); !wrong.empty()) {
    io.report(wrong);
    return kExitUsage;
  }
  const std::vector<std::string> outputs{options.json_output, options.md_output, options.html,
                                         options.provenance_output};
  if (const Diagnostics wrong = distinct_outputs(outputs); !wrong.empty()) {
    io.report(wrong);
    return kExitUsage;
  }
  auto gpus = load_gpus(options);
  io.report(gpus.diagnostics);
  if (!gpus.ok()) return kExitUsage;
  auto layers = layers_of(io, options, *gpus.value);
  io.report(layers.diagnostics);
  if (!layers.ok()) return kExitUsage;
  auto report = build_arch_report(gpus.value->predictors, std::move(*layers.value),
                                  thread_count(options.threads), options.preset);
  io.report(report.diagnostics);
  if (!report.ok()) return kExitUsage;
  report.value->left_out = gpus.value->left_out;
  const Diagnostics wrong = write_outputs(io, options, *report.value, *gpus.value);
  io.report(wrong);
  if (!wrong.empty()) return kExitUsage;
  const auto& preset = report.value->preset;
  return preset && preset->passed() == 0 ? kExitGate : kExitOk;
}

}  // namespace

void add_arch_report(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args = arch.subcommand("report", "the artifact of layers, rankings and cliffs that a CI compares");
  args.option("--hardware", options->hardware, "a GPU's name or file, repeatable; h200")
      .flag("--all-hardware", options->all_hardware, "every known GPU, and which rankings agree")
      .choice("--model", options->model.model, {"proxy", "measured"},
              "the latency model; measured where the hardware file has kernels, else proxy")
      .option("--source", options->model.source,
              "a kernel source of the hardware files; of one GPU its first, of several one that all have");
  add_layer_options(args, options->layers);
  args.choice(
      "--preset", options->preset, {kPresets.begin(), kPresets.end()},
      "rank only layers that fulfil these rules of quality; without layers of your own its candidates too");
  args.option("--json-output", options->json_output, "write the artifact to this file")
      .option("--md-output", options->md_output, "write a Markdown summary to this file")
      .option("--html", options->html, "write the report as one HTML file that opens anywhere")
      .option("--provenance-output", options->provenance_output,
              "write where it came from (time, host, hashes) to this file")
      .choice("--schema", options->schema, {"plumbline", "noeris-1"},
              "the artifact's layout; noeris-1 is the original script's, one GPU, proxy model");
  add_threads_option(args, options->threads);
  args.example(
      "plumbline arch report --all-hardware --model proxy --json-output arch.json --md-output arch.md");
  args.example("plumbline arch report --hardware h200 --preset noeris-quality");
  args.status(kExitGate, "no layer fulfils the preset");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
