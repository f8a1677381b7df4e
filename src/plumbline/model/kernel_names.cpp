// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/kernel_names.h"

#include <algorithm>
#include <optional>

#include "plumbline/base/raw_bytes.h"

namespace plumbline {
namespace {

constexpr std::size_t kMaxNames = 65535;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// "128x256" at the start of `text`, with no further digit or x behind it unless `more` is allowed.
std::optional<std::string_view> sizes_at(std::string_view text, bool more) {
  std::size_t at = 0;
  const auto number = [&] {
    const std::size_t begin = at;
    while (at < text.size() && digit(text[at])) ++at;
    return at > begin && at - begin <= 5;
  };
  if (!number() || at == text.size() || text[at] != 'x') return std::nullopt;
  ++at;
  if (!number()) return std::nullopt;
  if (!more && at < text.size() && text[at] != '_') return std::nullopt;
  return text.substr(0, at);
}

/// The first AxB between underscores, or what follows "tilesize".
std::optional<std::string_view> tile_in(std::string_view kernel) {
  constexpr std::string_view word = "tilesize";
  if (const std::size_t at = kernel.find(word); at != kernel.npos)
    return sizes_at(kernel.substr(at + word.size()), true);
  for (std::size_t at = kernel.find('_'); at != kernel.npos; at = kernel.find('_', at + 1)) {
    if (const auto found = sizes_at(kernel.substr(at + 1), false)) return found;
  }
  return std::nullopt;
}

/// `count` lines; false unless they are ascending, distinct kernel names and fill `text`.
bool take_names(std::string_view text, std::size_t count, std::vector<std::string>& names) {
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || !is_kernel_name(text.substr(0, end))) return false;
    if (!names.empty() && !(names.back() < text.substr(0, end))) return false;
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return text.empty();
}

}  // namespace

bool is_kernel_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxKernelName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

KernelNames make_kernel_names(std::vector<std::pair<std::uint64_t, std::string>> recorded) {
  KernelNames out;
  std::stable_sort(recorded.begin(), recorded.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, name] : recorded) out.names.push_back(name);
  std::sort(out.names.begin(), out.names.end());
  out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (i + 1 < recorded.size() && recorded[i + 1].first == recorded[i].first) continue;
    const auto at = std::lower_bound(out.names.begin(), out.names.end(), recorded[i].second);
    const auto index = static_cast<std::size_t>(at - out.names.begin());
    if (index < kMaxNames) out.shapes.push_back({recorded[i].first, static_cast<std::uint16_t>(index)});
  }
  if (out.names.size() > kMaxNames) out.names.resize(kMaxNames);
  return out;
}

std::string_view find_kernel(const KernelNames& names, std::uint64_t key) {
  const auto at = std::lower_bound(names.shapes.begin(), names.shapes.end(), key,
                                   [](const NamedShape& shape, std::uint64_t k) { return shape.key < k; });
  if (at == names.shapes.end() || at->key != key) return {};
  return names.names[at->name];
}

std::string tile_of(std::string_view kernel) {
  const bool split = kernel.find("splitK") != kernel.npos;
  kernel = kernel.substr(0, kernel.find('+'));  // the kernels that follow have no tile
  const auto tile = tile_in(kernel);
  std::string out(tile ? *tile : kernel.substr(0, kernel.find('<')));
  return split ? out + " split-K" : out;
}

bool other_tile(std::string_view a, std::string_view b) {
  return tile_in(a) && tile_in(b) ? tile_of(a) != tile_of(b) : a != b;
}

void append_kernel_names(const KernelNames& names, std::string& out) {
  std::string text;
  for (const std::string& name : names.names) text += name + '\n';
  append_raw(out, static_cast<std::uint32_t>(names.names.size()));
  append_raw(out, static_cast<std::uint32_t>(text.size()));
  append_raw(out, static_cast<std::uint32_t>(names.shapes.size()));
  if (names.names.empty()) return;
  out += text;
  for (const NamedShape& shape : names.shapes) append_raw(out, shape.key);
  for (const NamedShape& shape : names.shapes) append_raw(out, shape.name);
}

bool take_kernel_names(std::string_view& bytes, KernelNames& names) {
  std::vector<std::uint32_t> head;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint16_t> index;
  if (!take_raw(bytes, 3, head)) return false;
  const auto name_count = head[0], text_size = head[1], shape_count = head[2];
  if (name_count == 0) return text_size == 0 && shape_count == 0;
  if (name_count > kMaxNames || bytes.size() < text_size) return false;
  if (!take_names(bytes.substr(0, text_size), name_count, names.names)) return false;
  bytes.remove_prefix(text_size);
  if (!take_raw(bytes, shape_count, keys) || !take_raw(bytes, shape_count, index)) return false;
  names.shapes.reserve(shape_count);
  for (std::size_t i = 0; i < shape_count; ++i) {
    if (index[i] >= name_count || (i > 0 && keys[i - 1] >= keys[i])) return false;
    names.shapes.push_back({keys[i], index[i]});
  }
  return true;
}

}  // namespace plumbline
