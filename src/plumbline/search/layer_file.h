// SPDX-License-Identifier: Apache-2.0
// Files of layers: CSV, JSON, JSON Lines; and the --layer text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/search/layer_fields.h"

namespace plumbline {

/// A layer and where it stood.
struct LayerRow {
  Layer layer;
  std::int64_t row = 0;  ///< from 1: the data row of a CSV, the element of an array, the line's object
  int line = 0;
};

/// What a file held. rows_read = rows.size() + rows_refused.
struct LayerFile {
  std::vector<LayerRow> rows;
  std::int64_t rows_read = 0;
  std::int64_t rows_refused = 0;
  std::int64_t errors = 0;  ///< all of them; `diagnostics` keeps the first kMaxLayerDiagnostics
  Diagnostics diagnostics;
};

inline constexpr std::size_t kMaxLayerDiagnostics = 20;          ///< diagnostics kept of one file
inline constexpr std::uint64_t kMaxLayerFileBytes = 1ULL << 30;  ///< limit of a file of layers: 1 GiB

/// Reads a file of layers. The format is told by the name (.csv, .json, .jsonl, .ndjson), else by the first
/// character. A row with an error is refused alone: every other row is still there.
///  * CSV: a header with hidden_dim, num_heads, num_kv_heads, head_dim, ffn_dim (but for those that follow
///  from
///    a column experts or kv_lora_rank) and, optionally, the other fields of Layer; the columns ms, ms_min,
///    ms_max, calls of measured tables are ignored. A record is one line. Codes: layers-header, layers-row,
///    and the layer-field codes.
///  * JSON: an array of objects, an object that holds one under "layers" or "configs", or one object.
///  * JSON Lines: an object a line. A member "config" may hold the fields.
/// Names that are absent become layer1, layer2, … by row.
LayerFile read_layers(std::string_view text, const std::string& file, const LayerDefaults& defaults = {});

/// "hidden_dim=4096,num_heads=32,…", or a built-in's name, alone or followed by fields that replace its own:
/// "llama3_8b,seq_len=8192". Codes as read_layers, and layer-name-unknown.
Parsed<Layer> parse_layer(std::string_view text, const LayerDefaults& defaults = {});

namespace detail {
/// The CSV reader.
void read_layers_csv(std::string_view text, const std::string& file, const LayerDefaults& defaults,
                     LayerFile& out);
/// The JSON reader; `lines`: JSON Lines.
void read_layers_json(std::string_view text, const std::string& file, const LayerDefaults& defaults,
                      bool lines, LayerFile& out);
/// Files one finished row: kept, or refused with its errors.
void file_row(Parsed<Layer> layer, int line, LayerFile& out);
/// Counts an error and keeps it while there is room.
void file_error(Diagnostic diagnostic, LayerFile& out);
}  // namespace detail

}  // namespace plumbline
