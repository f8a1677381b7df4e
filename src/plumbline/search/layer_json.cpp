// SPDX-License-Identifier: Apache-2.0
// JSON and JSON Lines of layers, read as events: a million rows are never a tree in memory, and every value
// keeps its place.
#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <optional>

#include "plumbline/base/text.h"
#include "plumbline/search/layer_file.h"

namespace plumbline::detail {
namespace {

namespace rj = rapidjson;

constexpr unsigned kFlags =
    rj::kParseNumbersAsStringsFlag | rj::kParseIterativeFlag | rj::kParseFullPrecisionFlag;

/// Receives a document's events. An object stands for a layer at the top, in the top array, or in the array
/// that a top object holds under "layers" or "configs".
class LayerHandler : public rj::BaseReaderHandler<rj::UTF8<>, LayerHandler> {
 public:
  LayerHandler(std::string_view text, const std::string& file, int first_line, bool is_line,
               const rj::MemoryStream& stream, const LayerDefaults& defaults, LayerFile& out)
      : text_(text),
        file_(file),
        first_line_(first_line),
        is_line_(is_line),
        stream_(stream),
        defaults_(defaults),
        out_(out) {}

  bool Null() { return value({}, FieldKind::null); }
  bool Bool(bool b) { return value(b ? "true" : "false", FieldKind::boolean); }
  bool RawNumber(const char* s, rj::SizeType n, bool) { return value({s, n}, FieldKind::number); }
  bool String(const char* s, rj::SizeType n, bool) { return value({s, n}, FieldKind::text); }

  bool Key(const char* s, rj::SizeType n, bool) {
    if (skipping()) return true;
    if (depth_ == layer_depth_ || (in_config_ && depth_ == layer_depth_ + 1)) key_.assign(s, n);
    return true;
  }

  bool StartObject() {
    ++depth_;
    if (skipping()) return true;
    if (layer_depth_ == 0) {
      begin_layer();
    } else if (depth_ == layer_depth_ + 1) {
      if (key_ == "config") {
        in_config_ = true;
      } else {
        compound();
      }
    } else if (in_config_ && depth_ == layer_depth_ + 2) {
      compound();
    }
    return true;
  }

  bool EndObject(rj::SizeType) {
    if (skipping()) return end_skipped();
    if (in_config_ && depth_ == layer_depth_ + 1) in_config_ = false;
    if (depth_ == layer_depth_) end_layer();
    --depth_;
    return true;
  }

  bool StartArray() {
    ++depth_;
    if (skipping()) return true;
    if (layer_depth_ == 1 && depth_ == 2 && (key_ == "layers" || key_ == "configs")) {
      builder_.reset();  // the top object was a container, not a layer
      layer_depth_ = 0;
      container_ = true;
    } else if (layer_depth_ != 0 && depth_ <= layer_depth_ + (in_config_ ? 2 : 1)) {
      compound();
    } else if (layer_depth_ == 0 && depth_ > (container_ ? 2 : 1)) {
      not_an_object();
      skip_depth_ = depth_;
    }
    return true;
  }

  bool EndArray(rj::SizeType) {
    if (skipping()) return end_skipped();
    if (container_ && depth_ == 2) {
      layer_depth_ = kContainerTail;
    }
    --depth_;
    return true;
  }

 private:
  static constexpr int kContainerTail = -1;  ///< what follows the layers in a container is not read

  bool skipping() const { return skip_depth_ != 0; }
  bool end_skipped() {
    if (depth_ == skip_depth_) skip_depth_ = 0;
    --depth_;
    return true;
  }
  /// Where the reader is. Finding a line costs a walk over the document, so that only diagnostics that will
  /// be kept get one.
  Place place() const {
    if (out_.diagnostics.size() >= kMaxLayerDiagnostics) return {file_};
    const std::size_t offset = std::min(stream_.Tell(), text_.size());
    return {file_, text_, offset == 0 ? 0 : offset - 1, first_line_};
  }
  void begin_layer() {
    layer_depth_ = depth_;
    in_config_ = false;
    key_.clear();
    builder_.emplace(defaults_, out_.rows_read + 1);
    start_ = place();
  }
  void end_layer() {
    if (builder_) file_row(builder_->finish(start_), is_line_ ? first_line_ : 0, out_);
    builder_.reset();
    layer_depth_ = 0;
  }
  void compound() {
    if (builder_) builder_->set(key_, {}, FieldKind::compound, place());
  }
  void not_an_object() {
    file_row(failed<Layer>(diagnose("json-layer",
                                    fmt::format("row {}: an object is expected here", out_.rows_read + 1),
                                    place().location())),
             0, out_);
  }
  bool value(std::string_view text, FieldKind kind) {
    if (skipping()) return true;
    if (layer_depth_ == 0) {
      not_an_object();
    } else if (builder_ && (depth_ == layer_depth_ || (in_config_ && depth_ == layer_depth_ + 1)) &&
               !is_measurement_column(key_)) {
      builder_->set(key_, text, kind, place());
    }
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  int first_line_;
  bool is_line_;  ///< the text is one line of JSON Lines
  const rj::MemoryStream& stream_;
  const LayerDefaults& defaults_;
  LayerFile& out_;
  std::optional<LayerBuilder> builder_;
  Place start_{};
  std::string key_;
  int depth_ = 0;
  int layer_depth_ = 0;  ///< depth of the layer's object; 0: outside
  bool in_config_ = false;
  bool container_ = false;
  int skip_depth_ = 0;  ///< depth of an array that is not a layer, while inside it; 0: none
};

/// Reads one document; a syntax error is filed, as a refused row when the document is a line.
void read_document(std::string_view text, const std::string& file, int first_line,
                   const LayerDefaults& defaults, bool is_row, LayerFile& out) {
  const std::size_t rows_before = out.rows.size();
  const std::size_t diagnostics_before = out.diagnostics.size();
  const std::int64_t read_before = out.rows_read;
  const std::int64_t refused_before = out.rows_refused;
  const std::int64_t errors_before = out.errors;
  rj::MemoryStream stream(text.data(), text.size());
  LayerHandler handler(text, file, first_line, is_row, stream, defaults, out);
  rj::Reader reader;
  const rj::ParseResult parsed = reader.Parse<kFlags>(stream, handler);
  if (parsed) return;
  out.rows.resize(rows_before);  // half a document gives nothing, and only its end is wrong
  out.diagnostics.resize(diagnostics_before);
  out.rows_read = read_before;
  out.rows_refused = refused_before;
  out.errors = errors_before;
  const Place at{file, text, std::min(parsed.Offset(), text.size()), first_line};
  Diagnostic diagnostic = diagnose("json-syntax", rj::GetParseError_En(parsed.Code()), at.location());
  if (is_row) {
    file_row(failed<Layer>(std::move(diagnostic)), first_line, out);
  } else {
    file_error(std::move(diagnostic), out);
  }
}

}  // namespace

void read_layers_json(std::string_view text, const std::string& file, const LayerDefaults& defaults,
                      bool lines, LayerFile& out) {
  if (!lines) return read_document(text, file, 1, defaults, false, out);
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (!trim(line).empty()) read_document(line, file, number, defaults, true, out);
  }
}

}  // namespace plumbline::detail
