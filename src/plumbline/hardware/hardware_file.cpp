// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/hardware_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "plumbline/base/files.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/base/toml.h"
#include "plumbline/hardware/kernel_sources.h"
#include "plumbline/hardware/table_reader.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

template <class T, class V>
struct Field {
  std::string_view key;
  V T::*member;
};

constexpr std::array<Field<DataSheet, std::string>, 2> kSheetTexts{
    {{"product", &DataSheet::product}, {"document", &DataSheet::url_or_document}}};
constexpr std::array<Field<DataSheet, double>, 2> kSheetRates{
    {{"hbm_bandwidth_gbps", &DataSheet::hbm_bandwidth_gbps}, {"bf16_tflops", &DataSheet::bf16_tflops}}};
constexpr std::array<Field<DataSheet, double>, 3> kSheetOptional{{{"fp8_tflops", &DataSheet::fp8_tflops},
                                                                  {"fp4_tflops", &DataSheet::fp4_tflops},
                                                                  {"link_gbps", &DataSheet::link_gbps}}};
constexpr std::array<Field<DataSheet, std::int64_t>, 3> kSheetCounts{{{"sm_count", &DataSheet::sm_count},
                                                                      {"l2_bytes", &DataSheet::l2_bytes},
                                                                      {"hbm_bytes", &DataSheet::hbm_bytes}}};
constexpr std::array<Field<ProxyConstants, double>, 10> kProxyRates{{
    {"hbm_bandwidth_gbps", &ProxyConstants::hbm_bandwidth_gbps},
    {"rmsnorm_gbps", &ProxyConstants::rmsnorm_gbps},
    {"rmsnorm_gbps_small", &ProxyConstants::rmsnorm_gbps_small},
    {"qk_norm_rope_gbps", &ProxyConstants::qk_norm_rope_gbps},
    {"qk_norm_rope_separate_gbps", &ProxyConstants::qk_norm_rope_separate_gbps},
    {"geglu_gbps", &ProxyConstants::geglu_gbps},
    {"matmul_tflops", &ProxyConstants::matmul_tflops},
    {"matmul_tflops_small", &ProxyConstants::matmul_tflops_small},
    {"attention_tflops", &ProxyConstants::attention_tflops},
    {"residual_add_gbps", &ProxyConstants::residual_add_gbps},
}};

void read_sheet(TableReader reader, DataSheet& sheet) {
  for (const auto& field : kSheetTexts) sheet.*field.member = reader.text(field.key, true);
  for (const auto& field : kSheetRates) reader.rate(field.key, sheet.*field.member);
  for (const auto& field : kSheetOptional) {
    if (reader.table.contains(field.key)) reader.rate(field.key, sheet.*field.member);
    reader.known.push_back(field.key);
  }
  for (const auto& field : kSheetCounts) reader.size(field.key, sheet.*field.member);
  reader.refuse_unknown();
}

void read_proxy(TableReader reader, Hardware& hardware) {
  hardware.proxy.emplace();
  hardware.proxy_source = reader.text("origin", true);
  for (const auto& field : kProxyRates) reader.rate(field.key, (*hardware.proxy).*field.member);
  reader.refuse_unknown();
}

bool is_path(std::string_view name) { return name.find('/') != name.npos || name.ends_with(".toml"); }

}  // namespace

Parsed<Hardware> parse_hardware(std::string_view text, const std::string& file, const std::string& directory,
                                std::optional<std::string_view> only) {
  auto document = parse_toml(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  Parsed<Hardware> result;
  Hardware hardware;
  TableReader reader{*document.value, "", file, result.diagnostics};
  hardware.name = reader.text("name", true);
  if (const auto sheet = reader.sub("sheet", "[sheet]", false)) {
    read_sheet(*sheet, hardware.sheet);
  } else if (!document.value->contains("sheet")) {
    result.diagnostics.push_back(diagnose("hardware-field-missing", "[sheet] is missing", {file, 1, 1}));
  }
  if (const auto proxy = reader.sub("proxy", "[proxy]", false)) read_proxy(*proxy, hardware);
  reader.known.push_back("source");
  reader.refuse_unknown();
  auto sources = read_kernel_sources(*document.value, file, directory, hardware.sheet, only);
  result.diagnostics.insert(result.diagnostics.end(), sources.diagnostics.begin(), sources.diagnostics.end());
  if (sources.ok()) hardware.sources = std::move(*sources.value);
  if (!has_errors(result.diagnostics)) result.value = std::move(hardware);
  return result;
}

std::string write_hardware(const Hardware& hardware) {
  std::string out = fmt::format("name = {}\n\n[sheet]\n", toml_quoted(hardware.name));
  for (const auto& f : kSheetTexts)
    out += fmt::format("{} = {}\n", f.key, toml_quoted(hardware.sheet.*f.member));
  for (const auto& f : kSheetRates) {
    out += fmt::format("{} = {}\n", f.key, format_double(hardware.sheet.*f.member));
  }
  for (const auto& f : kSheetOptional) {
    if (hardware.sheet.*f.member > 0)
      out += fmt::format("{} = {}\n", f.key, format_double(hardware.sheet.*f.member));
  }
  for (const auto& f : kSheetCounts) out += fmt::format("{} = {}\n", f.key, hardware.sheet.*f.member);
  if (hardware.proxy) {
    out += fmt::format("\n[proxy]\norigin = {}\n", toml_quoted(hardware.proxy_source));
    for (const auto& f : kProxyRates) {
      out += fmt::format("{} = {}\n", f.key, format_double((*hardware.proxy).*f.member));
    }
  }
  return out;
}

std::vector<std::string> hardware_directories(const std::string& binary) {
  const fs::path folder = fs::path(binary).parent_path();
  return {(folder / "hardware").string(), (folder / ".." / "share" / "plumbline" / "hardware").string()};
}

std::vector<std::string> hardware_names(std::span<const std::string> directories) {
  std::vector<std::string> names;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".toml") names.push_back(it->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Parsed<std::string> find_hardware_file(const std::string& name, std::span<const std::string> directories) {
  if (is_path(name)) return {name, {}};
  for (const std::string& directory : directories) {
    const fs::path path = fs::path(directory) / (name + ".toml");
    std::error_code error;
    if (!name.empty() && fs::is_regular_file(path, error)) return {path.string(), {}};
  }
  const std::vector<std::string> names = hardware_names(directories);
  if (names.empty()) {
    return failed<std::string>(diagnose(
        "hardware-unknown",
        fmt::format("no hardware '{}': no hardware files in {}", name, fmt::join(directories, ", "))));
  }
  return failed<std::string>(
      diagnose("hardware-unknown",
               fmt::format("no hardware '{}'; known: {}", printable(name), fmt::join(names, ", "))));
}

Parsed<Hardware> load_hardware(const std::string& name, std::span<const std::string> directories,
                               std::optional<std::string_view> only) {
  const auto path = find_hardware_file(name, directories);
  if (!path.ok()) return {std::nullopt, path.diagnostics};
  const auto text = read_text_file(*path.value);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  return parse_hardware(*text.value, *path.value, fs::path(*path.value).parent_path().string(), only);
}

}  // namespace plumbline
