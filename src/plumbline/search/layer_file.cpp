// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/layer_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plumbline/base/text.h"
#include "plumbline/search/builtin.h"

namespace plumbline {
namespace detail {

void file_error(Diagnostic diagnostic, LayerFile& out) {
  ++out.errors;
  if (out.diagnostics.size() < kMaxLayerDiagnostics) out.diagnostics.push_back(std::move(diagnostic));
}

void file_row(Parsed<Layer> layer, int line, LayerFile& out) {
  const std::int64_t row = ++out.rows_read;
  if (!layer.ok()) {
    ++out.rows_refused;
    for (Diagnostic& diagnostic : layer.diagnostics) file_error(std::move(diagnostic), out);
    return;
  }
  if (layer.value->name.empty()) layer.value->name = fmt::format("layer{}", row);
  out.rows.push_back({std::move(*layer.value), row, line});
}

}  // namespace detail

LayerFile read_layers(std::string_view text, const std::string& file, const LayerDefaults& defaults) {
  LayerFile out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string name = to_lower(file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json_text = first != text.npos && (text[first] == '{' || text[first] == '[');
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) {
    detail::read_layers_json(text, file, defaults, true, out);
  } else if (name.ends_with(".json") || (!name.ends_with(".csv") && json_text)) {
    detail::read_layers_json(text, file, defaults, false, out);
  } else {
    detail::read_layers_csv(text, file, defaults, out);
  }
  if (out.rows_read == 0 && out.errors == 0) {
    detail::file_error(diagnose("layers-empty", "the file holds no layer", {file}), out);
  }
  return out;
}

Parsed<Layer> parse_layer(std::string_view text, const LayerDefaults& defaults) {
  const Place at{"--layer"};
  LayerBuilder builder(defaults);
  bool first = true;
  for (const std::string_view piece : split_any(text, ",", false)) {
    const std::size_t equals = piece.find('=');
    if (equals == piece.npos) {
      const Layer* base = first ? find_builtin_layer(trim(piece)) : nullptr;
      if (base == nullptr) {
        std::vector<std::string_view> names;
        for (const Layer& each : builtin_layers()) names.push_back(each.name);
        return failed<Layer>(diagnose("layer-name-unknown",
                                      fmt::format("'{}' is neither field=value nor a built-in layer ({})",
                                                  printable(piece), fmt::join(names, ", ")),
                                      at.location()));
      }
      builder.start_from(*base, defaults);
    } else {
      builder.set(trim(piece.substr(0, equals)), piece.substr(equals + 1), FieldKind::text, at);
    }
    first = false;
  }
  Parsed<Layer> layer = builder.finish(at);
  if (layer.ok() && layer.value->name.empty()) layer.value->name = "layer";
  return layer;
}

}  // namespace plumbline
