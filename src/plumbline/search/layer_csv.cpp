// SPDX-License-Identifier: Apache-2.0
// CSV of layers. A record is one physical line: no field of a layer holds a line break, so that an unpaired
// quote costs its own row and not the rest of the file.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "plumbline/base/text.h"
#include "plumbline/search/layer_file.h"

namespace plumbline::detail {
namespace {

struct CsvCell {
  std::string_view text;
  std::size_t offset = 0;  ///< in the line, in bytes
};

/// Splits a line into cells; quoted cells are unescaped into `store`. False when a quote does not close.
bool split_line(std::string_view line, std::vector<CsvCell>& cells, std::vector<std::string>& store) {
  cells.clear();
  store.clear();
  store.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1);  // views stay valid
  for (std::size_t at = 0;;) {
    if (at < line.size() && line[at] == '"') {
      std::string text;
      std::size_t i = at + 1;
      for (;; ++i) {
        if (i >= line.size()) return false;
        if (line[i] == '"' && (i + 1 >= line.size() || line[i + 1] != '"')) break;
        if (line[i] == '"') ++i;
        text += line[i];
      }
      if (i + 1 < line.size() && line[i + 1] != ',') return false;
      store.push_back(std::move(text));
      cells.push_back({store.back(), at});
      at = i + 1;
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cells.push_back({line.substr(at, end - at), at});
      at = end;
    }
    if (at >= line.size()) return true;
    ++at;  // the comma; a line that ends in one has a last, empty cell
    if (at == line.size()) {
      cells.push_back({{}, at});
      return true;
    }
  }
}

struct Column {
  std::string name;
  bool used = false;
};

/// The header's columns, or none with the reason filed.
std::optional<std::vector<Column>> read_header(std::string_view line, int number, const std::string& file,
                                               LayerFile& out) {
  std::vector<CsvCell> cells;
  std::vector<std::string> store;
  const std::int64_t before = out.errors;
  const auto wrong = [&](const std::string& message, std::size_t offset) {
    const int column = position_at(line, offset).column;
    file_error(diagnose("layers-header", message, {file, number, column}), out);
  };
  if (!split_line(line, cells, store)) {
    wrong("a quote in the header does not close", 0);
    return std::nullopt;
  }
  std::vector<Column> columns;
  for (const CsvCell& cell : cells) {
    const std::string name(trim(cell.text));
    const bool known = is_layer_field(name);
    if (!known && !is_measurement_column(name)) {
      std::vector<std::string_view> names{"name", "use_qk_norm", "phase", "activation", "backend"};
      for (const LayerField& field : layer_fields()) names.push_back(field.name);
      const auto near = nearest_name(name, names);
      wrong(fmt::format("column '{}' is not a field of a layer{}", printable(cut_middle(name, 60)),
                        near ? fmt::format("; did you mean '{}'?", *near) : ""),
            cell.offset);
    }
    const auto same = [&](const Column& c) { return c.name == name; };
    if (std::any_of(columns.begin(), columns.end(), same)) {
      wrong(fmt::format("column '{}' stands twice", printable(name)), cell.offset);
    }
    columns.push_back({name, known});
  }
  for (const std::string_view need : {"hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim"}) {
    const auto same = [&](const Column& c) { return c.name == need; };
    if (std::none_of(columns.begin(), columns.end(), same) && out.errors == before) {
      wrong(fmt::format("column '{}' is missing{}", need,
                        columns.size() == 1 ? " (columns are separated by commas)" : ""),
            0);
    }
  }
  if (out.errors != before) return std::nullopt;
  return columns;
}

}  // namespace

void read_layers_csv(std::string_view text, const std::string& file, const LayerDefaults& defaults,
                     LayerFile& out) {
  std::optional<std::vector<Column>> columns;
  std::vector<CsvCell> cells;
  std::vector<std::string> store;
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
    if (!split_line(line, cells, store)) {
      refuse("a quote does not close");
    } else if (cells.size() != columns->size()) {
      refuse(fmt::format("{} cells, and the header has {} columns", cells.size(), columns->size()));
    } else {
      LayerBuilder builder(defaults, out.rows_read + 1);
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if ((*columns)[c].used) {
          builder.set((*columns)[c].name, cells[c].text, FieldKind::text,
                      {file, line, cells[c].offset, number});
        }
      }
      file_row(builder.finish({file, line, 0, number}), number, out);
    }
  }
}

}  // namespace plumbline::detail
