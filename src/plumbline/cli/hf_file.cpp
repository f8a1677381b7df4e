// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/hf_file.h"

#include <filesystem>

#include "plumbline/base/files.h"
#include "plumbline/model/hf_config.h"

namespace plumbline::cli {

Parsed<Transformer> load_hf_config(const std::string& path) {
  std::error_code error;
  const bool folder = path != "-" && std::filesystem::is_directory(path, error);
  const std::string file = folder ? (std::filesystem::path(path) / "config.json").string() : path;
  const auto text = read_text_file(file, kMaxConfigBytes);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  const std::string beside =
      path == "-" ? "" : (std::filesystem::path(file).parent_path() / "hf_quant_config.json").string();
  if (beside.empty() || !std::filesystem::exists(beside, error)) return parse_hf_config(*text.value, file);
  const auto quantization = read_text_file(beside, kMaxConfigBytes);
  if (!quantization.ok()) return {std::nullopt, quantization.diagnostics};
  return parse_hf_config(*text.value, file, HfQuantFile{*quantization.value, beside});
}

}  // namespace plumbline::cli
