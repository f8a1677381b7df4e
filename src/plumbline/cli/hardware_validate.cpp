// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware validate NAME ROWS…` and `predict NAME --op … --rows FILE`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "plumbline/base/files.h"
#include "plumbline/base/gzip.h"
#include "plumbline/base/numbers.h"
#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/page_output.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/submission.h"
#include "plumbline/hardware/validate.h"
#include "plumbline/html/pages.h"
#include "plumbline/model/predict.h"
#include "plumbline/report/accuracy_report.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string name, source, op, file, dtype, kv_dtype, html;
  std::vector<std::string> rows;
  std::optional<double> sm_mhz;
};

/// The hardware's kernel source, or its data sheet alone with a loud warning. Diagnostics are reported.
std::shared_ptr<const KernelSource> choose(const Io& io, const Options& options, DataSheet& sheet) {
  const auto hardware = load_hardware(options.name, hardware_search_path(), options.source);
  io.report(hardware.diagnostics);
  if (!hardware.ok()) return nullptr;
  sheet = hardware.value->sheet;
  const auto predictor = choose_predictor(*hardware.value, LatencyModel::measured, options.source);
  io.report(predictor.diagnostics);
  if (!predictor.ok() || !options.sm_mhz) return predictor.ok() ? predictor.value->source : nullptr;
  const auto source = source_at_clock(predictor.value->source, *options.sm_mhz);
  io.report(source.diagnostics);
  return source.ok() ? *source.value : nullptr;
}

int validate_command(const Io& io, const Options& options) {
  DataSheet sheet;
  const auto source = choose(io, options, sheet);
  if (source == nullptr) return kExitUsage;
  MeasuredRows rows;
  for (const std::string& path : options.rows) {
    const auto text = read_packed_text_file(path);
    const Diagnostics found =
        text.ok() ? read_measurements(*text.value, path, sheet, rows) : text.diagnostics;
    io.report(found);
    if (has_errors(found)) return kExitUsage;
  }
  const Diagnostics seen = refuse_seen_rows(*source, rows);
  io.report(seen);
  if (!seen.empty()) return kExitUsage;
  const std::vector<OpAccuracy> ops = validate(*source, rows);
  if (ops.empty()) {
    io.report({diagnose("rows-none-usable", "no usable row to validate with")});
    return kExitUsage;
  }
  const auto page = [&] {
    return html::accuracy_page(fmt::format("Predicted against measured: {}, {}", options.name, source->name),
                               ops);
  };
  if (!write_page(io, options.html, page)) return kExitUsage;
  if (io.json) {
    io.print_json(validation_json(ops));
  } else {
    io.print(validation_text(ops, io.look()));
  }
  const bool over =
      std::any_of(ops.begin(), ops.end(), [](const OpAccuracy& op) { return op.over_budget(); });
  return over ? kExitGate : kExitOk;
}

std::optional<double> measurement_of(const KernelSource& source, const AskedRow& row) {
  if (row.kind == AskedRow::Kind::gemm) return kept_measurement(source, shape_key(row.gemm));
  if (row.kind == AskedRow::Kind::attention) return kept_measurement(source, shape_key(row.attention));
  return std::nullopt;
}

void print_predictions(const Io& io, const KernelSource& source, const std::vector<AskedRow>& asked) {
  Json json = Json::array();
  TextTable table;
  table.columns = {{"row", Align::right},     {"ms", Align::right}, {"low", Align::right},
                   {"high", Align::right},    {"source"},           {"bound"},
                   {"measured", Align::right}};
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const KernelTime time = predict_asked(source, asked[i]);
    const auto measured = measurement_of(source, asked[i]);
    // four words stand in "source"; outside the measured sizes a prediction is the model's, and says so
    const bool outside = time.provenance == Provenance::extrapolated;
    Json one = {{"ms", time.ms},
                {"low_ms", time.low_ms},
                {"high_ms", time.high_ms},
                {"provenance", std::string(to_string(time.provenance))},
                {"source", std::string(to_string(outside ? Provenance::modelled : time.provenance))},
                {"extrapolated", outside},
                {"bound", std::string(to_string(time.bound))}};
    if (measured) one["measured_ms"] = *measured;
    if (io.json) {
      json.push_back(std::move(one));
    } else {
      table.rows.push_back({std::to_string(i + 1), format_fixed(time.ms, 5), format_fixed(time.low_ms, 5),
                            format_fixed(time.high_ms, 5), std::string(to_string(time.provenance)),
                            std::string(to_string(time.bound)), measured ? format_fixed(*measured, 5) : "–"});
    }
  }
  if (io.json) {
    io.print_json(json);
  } else {
    io.print(render_text(table, io.look()));
  }
}

int predict_command(const Io& io, const Options& options) {
  DataSheet sheet;
  const auto source = choose(io, options, sheet);
  if (source == nullptr) return kExitUsage;
  const auto text = read_packed_text_file(options.file);
  io.report(text.diagnostics);
  if (!text.ok()) return kExitUsage;
  RowFormats formats = formats_in(std::filesystem::path(options.file).filename().string());
  for (const auto& [given, into] :
       {std::pair{&options.dtype, &formats.dtype}, std::pair{&options.kv_dtype, &formats.kv_dtype}}) {
    if (given->empty()) continue;
    const auto dtype = find_dtype(*given);
    if (!dtype) {
      io.report({diagnose(
          "usage", fmt::format("'{}' is not a format: bf16, fp8, fp8_block, nvfp4, int4_wo, w4a16_mxfp4 "
                               "and w4a8_mxfp4_mxfp8 are known",
                               printable(*given)))});
      return kExitUsage;
    }
    *into = *dtype;
  }
  const auto asked = read_asked_rows(*text.value, options.file, options.op, formats);
  io.report(asked.diagnostics);
  if (!asked.ok()) return kExitUsage;
  std::set<std::string> reported;  // one warning of each kind, not one a row
  for (const AskedRow& row : *asked.value) {
    if (row.kind != AskedRow::Kind::operation) continue;
    for (const Diagnostic& found : check_request(*source, row.operation)) {
      if (reported.insert(found.message).second) io.report({found});
      if (found.severity == Severity::error) return kExitUsage;
    }
  }
  print_predictions(io, *source, *asked.value);
  return kExitOk;
}

}  // namespace

void add_hardware_validate(Args& hardware) {
  auto options = std::make_shared<Options>();
  Args args = hardware.subcommand("validate",
                                  "errors by operation on rows never calibrated with; 1 when over a budget");
  args.positional("NAME", options->name, "a name of hardware list, or a file")
      .positionals("ROWS", options->rows, "CSV files of measured rows that were kept back")
      .option("--source", options->source, "the kernel source (default: the first)")
      .option("--sm-mhz", options->sm_mhz, "the SM clock of the card under load, where it was measured")
      .option("--html", options->html, "also write the errors as one HTML file that opens anywhere")
      .example("plumbline hardware validate h200 tests/validation/h200/gemm.csv");
  args.status(kExitGate, "an operation is over its budget");
  args.run([options](const Io& io) { return validate_command(io, *options); });
}

void add_hardware_predict(Args& hardware) {
  auto options = std::make_shared<Options>();
  Args args =
      hardware.subcommand("predict", "one prediction a row: time, band, where it comes from, what binds it");
  args.positional("NAME", options->name, "a name of hardware list, or a file")
      .option("--op", options->op,
              "gemm, attention, moe, grouped_gemm, mla, collective, layer, rmsnorm, add_rmsnorm, "
              "residual_add, swiglu, geglu, rope, qk_norm_rope")
      .option("--dtype", options->dtype,
              "format of rows without a column of it (default: the file's name, or bf16)")
      .option("--kv-dtype", options->kv_dtype, "the same for the KV cache")
      .option("--rows", options->file, "CSV file of shapes; a column ms is ignored")
      .option("--source", options->source, "the kernel source (default: the first)")
      .option("--sm-mhz", options->sm_mhz, "the SM clock of the card under load, where it was measured")
      .example("plumbline hardware predict h200 --op gemm --rows shapes.csv");
  args.run([options](const Io& io) { return predict_command(io, *options); });
}

}  // namespace plumbline::cli
