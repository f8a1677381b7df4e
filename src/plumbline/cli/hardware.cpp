// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware list` and `show`: what is known of a GPU.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/report/hardware_report.h"

namespace plumbline::cli {
namespace {

int list(const Io& io) {
  const auto directories = hardware_search_path();
  std::vector<Hardware> all;
  int status = kExitOk;
  for (const std::string& name : hardware_names(directories)) {
    auto loaded = load_hardware(name, directories);
    io.report(loaded.diagnostics);
    if (loaded.ok()) {
      all.push_back(std::move(*loaded.value));
    } else {
      status = kExitUsage;
    }
  }
  if (io.json) {
    Json json = Json::array();
    for (const Hardware& hardware : all) json.push_back(hardware_json(hardware));
    io.print_json(json);
  } else {
    io.print(hardware_list_text(all, io.look()));
  }
  return status;
}

int show(const Io& io, const std::string& name) {
  const auto loaded = load_hardware(name, hardware_search_path());
  io.report(loaded.diagnostics);
  if (!loaded.ok()) return kExitUsage;
  if (io.json) {
    io.print_json(hardware_json(*loaded.value));
  } else {
    io.print(hardware_text(*loaded.value, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_hardware(Args& root) {
  Args hardware = root.subcommand("hardware", "GPU descriptions: what is known, and from where");
  Args args = hardware.subcommand("list", "the hardware files found beside the binary and in its prefix");
  args.example("plumbline hardware list");
  args.run([](const Io& io) { return list(io); });

  auto name = std::make_shared<std::string>();
  args = hardware.subcommand("show", "one GPU: data sheet, proxy constants, kernel sources");
  args.positional("NAME", *name, "a name of hardware list, or a file")
      .example("plumbline hardware show h200");
  args.run([name](const Io& io) { return show(io, *name); });

  add_hardware_calibrate(hardware);
  add_hardware_check(hardware);
  add_hardware_validate(hardware);
  add_hardware_predict(hardware);
  add_hardware_submit(hardware);
}

}  // namespace plumbline::cli
