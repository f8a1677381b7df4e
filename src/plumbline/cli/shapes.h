// SPDX-License-Identifier: Apache-2.0
// What the commands about shapes share: --hardware, --model, --source; --layer, --configs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/cli/command.h"
#include "plumbline/model/deployment.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/predict.h"
#include "plumbline/search/layer_file.h"

namespace plumbline::cli {

/// --hardware, --model, --source, --sm-mhz.
struct ModelOptions {
  std::string hardware = "h200";
  std::string model;  ///< "", "proxy" or "measured"
  std::string source;
  std::optional<double> sm_mhz;
};

/// Adds the four options.
void add_model_options(Args& args, ModelOptions& options);

/// --model as a value; none when it was not given.
std::optional<LatencyModel> chosen_model(const ModelOptions& options);

/// Where this binary looks for hardware files.
std::vector<std::string> hardware_search_path();

/// The kernel source on a card whose SM clock was measured (--sm-mhz). Errors: clock-not-known, usage.
Parsed<std::shared_ptr<const KernelSource>> source_at_clock(std::shared_ptr<const KernelSource> source,
                                                            double sm_mhz);

/// The hardware file read, and its predictor.
Parsed<Predictor> load_predictor(const ModelOptions& options);

/// --layer (repeatable), --configs, --phase, --backend.
struct LayerOptions {
  std::vector<std::string> layers;
  std::string configs;
  std::string phase;
  std::string backend;
};

/// Adds the four options.
void add_layer_options(Args& args, LayerOptions& options);

/// --threads.
void add_threads_option(Args& args, std::optional<std::int64_t>& threads);

/// --threads, else PLUMBLINE_THREADS, as for_ranges() takes it: 0, as many as are worth it, when absent;
/// clamped to 1..256.
unsigned thread_count(const std::optional<std::int64_t>& threads);

/// What --phase and --backend make the default.
LayerDefaults layer_defaults(const LayerOptions& options);

/// The layers of --layer and --configs in that order, those that the model cannot cost refused with the
/// reason. Rows that are refused cost nothing else: `errors` > 0 makes the exit status 2 in the end. `used`
/// receives the text of --configs as it was read.
LayerFile load_layers(const LayerOptions& options, const Predictor& predictor, std::string* used = nullptr);

/// --tp, --ep, --dtype, --kv-dtype: how a whole model is laid out.
struct DeploymentOptions {
  std::optional<std::int64_t> tp, ep;
  std::string dtype, kv_dtype;
};

/// Adds the four options. `with` starts their help: "with --hf: ", or nothing.
void add_deployment_options(Args& args, DeploymentOptions& options, const std::string& with = {});

/// Was any of them given?
bool is_given(const DeploymentOptions& options);

/// What they say. Error: usage.
Parsed<Deployment> deployment_of(const DeploymentOptions& options);

/// --hf (repeatable), --seq-len, --batch-size and those of a deployment: the layers of whole models.
struct HfOptions {
  std::vector<std::string> files;
  std::optional<std::int64_t> seq_len;
  std::optional<std::int64_t> batch_size;
  DeploymentOptions deployment;
};

/// Adds the seven options.
void add_hf_options(Args& args, HfOptions& options);

/// One kind of layer of a model of --hf.
struct HfLayer {
  Layer layer;            ///< named after the file, the kind and the count: "gemma-3-27b: sliding 1024 x52"
  std::size_t count = 0;  ///< such layers
  std::int64_t vocab_size = 0;
};

/// Every kind of layer of the models of --hf, in order, at --seq-len and --batch-size. A model whose layers
/// the predictor cannot time is refused (model-not-timed).
Parsed<std::vector<HfLayer>> load_hf_layers(const HfOptions& options, const LayerOptions& layers,
                                            const Predictor& predictor);

/// The kind that most layers of the model are of; on a tie the first.
const HfLayer& most_common(const std::vector<HfLayer>& kinds);

/// Prints the kept diagnostics, and how many more there were.
void report_layer_errors(const Io& io, const LayerFile& layers);

}  // namespace plumbline::cli
