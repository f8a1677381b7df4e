// SPDX-License-Identifier: Apache-2.0
// `plumbline arch serve`: time to the first token and of each token after it, for a load of requests.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/arch.h"
#include "plumbline/cli/hf_file.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/report/serve_report.h"

namespace plumbline::cli {
namespace {

constexpr std::int64_t kMostTokens = 1LL << 24;
constexpr std::int64_t kMostClients = 1LL << 16;

struct Options {
  std::string hf, hardware = "h200", source = "vllm";
  DeploymentOptions deployment;
  std::optional<std::int64_t> isl, osl, concurrency;
};

/// A count that may be left out: at least 1 and at most `most`, or a diagnostic.
std::int64_t count_of(std::string_view flag, const std::optional<std::int64_t>& given, std::int64_t otherwise,
                      std::int64_t most, Diagnostics& found) {
  const std::int64_t value = given.value_or(otherwise);
  if (value >= 1 && value <= most) return value;
  found.push_back(diagnose("usage", fmt::format("{} is {}, and must be from 1 to {}", flag, value, most)));
  return otherwise;
}

int run(const Io& io, const Options& options) {
  Diagnostics wrong;
  if (options.hf.empty()) wrong.push_back(diagnose("usage", "no model to serve: give --hf"));
  const auto deployment = deployment_of(options.deployment);
  wrong.insert(wrong.end(), deployment.diagnostics.begin(), deployment.diagnostics.end());
  const Load load{count_of("--isl", options.isl, 1024, kMostTokens, wrong),
                  count_of("--osl", options.osl, 1024, kMostTokens, wrong),
                  count_of("--concurrency", options.concurrency, 1, kMostClients, wrong)};
  io.report(wrong);
  if (!wrong.empty()) return kExitUsage;
  const auto predictor = load_predictor({options.hardware, "measured", options.source, {}});
  io.report(predictor.diagnostics);
  if (!predictor.ok()) return kExitUsage;
  const auto model = load_hf_config(options.hf);
  io.report(model.diagnostics);
  if (!model.ok()) return kExitUsage;
  const auto cost = serve(*predictor.value, *model.value, *deployment.value, load);
  io.report(cost.diagnostics);
  if (!cost.ok()) return kExitUsage;
  if (io.json) {
    io.print_json(serve_json(*predictor.value, *model.value, *deployment.value, load, *cost.value));
  } else {
    io.print(serve_text(*predictor.value, *model.value, *deployment.value, load, *cost.value, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_arch_serve(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args =
      arch.subcommand("serve", "what a whole model answers requests in: first token, tokens after it");
  args.option("--hf", options->hf, "a model's config.json (Hugging Face), or the folder that holds it")
      .option("--hardware", options->hardware,
              "a GPU's name (plumbline hardware list) or a hardware file; h200")
      .option("--source", options->source, "the kernels, and with them the framework; vllm");
  add_deployment_options(args, options->deployment);
  args.option("--isl", options->isl, "tokens of a prompt; 1024")
      .option("--osl", options->osl, "tokens of an answer; 1024")
      .option("--concurrency", options->concurrency, "clients that ask again as soon as they are answered; 1")
      .example("plumbline arch serve --hf config.json --hardware h100 --isl 2048 --osl 256 --concurrency 32");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
