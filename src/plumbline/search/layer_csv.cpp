// SPDX-License-Identifier: Apache-2.0
// CSV of layers. A record is one physical line: no field of a layer holds a line break, so that an unpaired
// quote costs its own row and not the rest of the file.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "plumbline/base/csv.h"
#include "plumbline/base/text.h"
#include "plumbline/search/layer_file.h"

namespace plumbline::detail {
namespace {

struct Column {
  std::string name;
  bool used = false;
};

/// The header's columns, or none with the reason filed.
std::optional<std::vector<Column>> read_header(std::string_view line, int number, const std::string& file,
                                               LayerFile& out) {
  CsvLine cells;
  const std::int64_t before = out.errors;
  const auto wrong = [&](const std::string& message, std::size_t offset) {
    const int column = position_at(line, offset).column;
    file_error(diagnose("layers-header", message, {file, number, column}), out);
  };
  // Of a header with thousands of errors the first are said and the others only counted.
  const auto counted = [&] {
    const bool full = out.diagnostics.size() >= kMaxLayerDiagnostics;
    if (full) ++out.errors;
    return full;
  };
  if (!cells.read(line)) {
    wrong("a quote in the header does not close", 0);
    return std::nullopt;
  }
  std::vector<Column> columns;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const std::string name(trim(cells.cells[i]));
    const bool known = is_layer_field(name);
    if (!known && !is_measurement_column(name) && !counted()) {
      const auto near = nearest_name(name, layer_field_names());
      wrong(fmt::format("column '{}' is not a field of a layer{}", printable(cut_middle(name, 60)),
                        near ? fmt::format("; did you mean '{}'?", *near) : ""),
            cells.offsets[i]);
    }
    if (!seen.insert(name).second && !counted()) {
      wrong(fmt::format("column '{}' appears twice", printable(name)), cells.offsets[i]);
    }
    columns.push_back({name, known});
  }
  const auto missing =
      missing_fields([&](std::string_view name) { return seen.contains(std::string(name)); });
  if (!missing.empty() && out.errors == before) {
    wrong(fmt::format("column '{}' is missing{}", missing.front(),
                      columns.size() == 1 ? " (columns are separated by commas)" : ""),
          0);
  }
  if (out.errors != before) return std::nullopt;
  return columns;
}

}  // namespace

void read_layers_csv(std::string_view text, const std::string& file, const LayerDefaults& defaults,
                     LayerFile& out) {
  std::optional<std::vector<Column>> columns;
  CsvLine line_cells;
  const std::vector<std::string_view>& cells = line_cells.cells;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty()) continue;
    if (!columns) {
      columns = read_header(line, number, file, out);
      if (!columns) return;
      continue;
    }
    const auto refuse = [&](const std::string& why) {
      file_row(failed<Layer>(diagnose("layers-row", fmt::format("row {}: {}", out.rows_read + 1, why),
                                      {file, number, 1})),
               number, out);
    };
    if (!line_cells.read(line)) {
      refuse("a quote does not close");
    } else if (cells.size() != columns->size()) {
      refuse(fmt::format("{} cells, and the header has {} columns", cells.size(), columns->size()));
    } else {
      LayerBuilder builder(defaults, out.rows_read + 1);
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if ((*columns)[c].used) {
          builder.set((*columns)[c].name, cells[c], FieldKind::text,
                      {file, line, line_cells.offsets[c], number});
        }
      }
      file_row(builder.finish({file, line, 0, number}), number, out);
    }
  }
}

}  // namespace plumbline::detail
