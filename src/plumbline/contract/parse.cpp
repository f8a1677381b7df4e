// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/parse.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plumbline/base/files.h"
#include "plumbline/base/toml.h"
#include "plumbline/contract/name_set.h"

namespace plumbline {
namespace {

constexpr std::size_t kMostErrors = 20;

constexpr std::array<std::string_view, 4> kTopKeys{"schema_version", "reference", "student", "asymmetry"};
constexpr std::array<std::string_view, 3> kSideKeys{"window", "inputs", "outputs"};
constexpr std::array<std::string_view, 4> kKindKeys{"ref_input", "student_input", "ref_output",
                                                    "student_output"};
constexpr std::array<std::string_view, 13> kEntryKeys{
    "ref_input",   "student_input", "ref_output",     "student_output",   "class",
    "produced_by", "derived_from",  "note",           "ref_kernel_regex", "student_kernel_regex",
    "dtype",       "shape",         "workload_shapes"};

TextPosition position(const toml::node& node) {
  const toml::source_position begin = node.source().begin;
  return {static_cast<int>(begin.line), static_cast<int>(begin.column)};
}

TextPosition position(const toml::key& key) {
  const toml::source_position begin = key.source().begin;
  return {static_cast<int>(begin.line), static_cast<int>(begin.column)};
}

/// "an integer", "a table", ... for messages.
std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a float";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

/// The enumerator that the text names; `words` in their order.
template <class Enum, std::size_t N>
std::optional<Enum> known_word(const Field& field, const std::array<std::string_view, N>& words) {
  const auto at = std::find(words.begin(), words.end(), field.text);
  return at == words.end() ? std::nullopt : std::optional(static_cast<Enum>(at - words.begin()));
}

/// Reads one document and keeps every load error, in the order of reading.
class Reader {
 public:
  explicit Reader(const std::string& file) { contract_.file = file; }

  Parsed<WindowContract> read(const toml::table& root) {
    check_version(root);
    const toml::table* reference = side_table(root, "reference");
    const toml::table* student = side_table(root, "student");
    read_entries(root);
    read_side(reference, "reference", contract_.reference);
    read_side(student, "student", contract_.student);
    warn_unknown(root, kTopKeys, "");
    std::stable_sort(warnings_.begin(), warnings_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    Parsed<WindowContract> result{std::nullopt, std::move(errors_)};
    if (result.diagnostics.empty()) result.value = std::move(contract_);
    result.diagnostics.insert(result.diagnostics.end(), warnings_.begin(), warnings_.end());
    return result;
  }

 private:
  void fail(std::string_view code, TextPosition at, std::string message) {
    if (errors_.size() < kMostErrors)
      errors_.push_back(diagnose(code, std::move(message), {contract_.file, at.line, at.column}));
  }

  void check_version(const toml::table& root) {
    const toml::node* version = root.get("schema_version");
    if (version == nullptr) return;
    const auto* number = version->as_integer();
    if (number == nullptr) {
      fail("schema-version", position(*version),
           fmt::format("schema_version is {}; it must be the integer 1", type_name(*version)));
    } else if (number->get() != 1) {
      fail("schema-version", position(*version),
           fmt::format("schema_version is {}; this plumbline reads version 1", number->get()));
    }
  }

  const toml::table* side_table(const toml::table& root, std::string_view name) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return nullptr;
    if (!node->is_table())
      fail("wrong-type", position(*node),
           fmt::format("{} is {}; it must be a table", name, type_name(*node)));
    return node->as_table();
  }

  void read_side(const toml::table* table, std::string_view name, Side& side) {
    if (table == nullptr) return;
    side.at = position(*table);
    const std::string where = fmt::format("[{}]", name);
    side.window = read_text(*table, "window", where);
    read_names(*table, "inputs", where, side.inputs, side.inputs_at);
    read_names(*table, "outputs", where, side.outputs, side.outputs_at);
    warn_unknown(*table, kSideKeys, where);
  }

  void read_names(const toml::table& table, std::string_view key, const std::string& where,
                  std::vector<Field>& names, TextPosition& at) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    at = position(*node);
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      return fail("wrong-type", at,
                  fmt::format("{}.{} is {}; it must be a list of strings", where, key, type_name(*node)));
    }
    names.reserve(list->size());
    NameSet seen;
    for (const toml::node& element : *list) {
      const auto* text = element.as_string();
      if (text == nullptr) {
        return fail(
            "wrong-type", position(element),
            fmt::format("{}.{} holds {}; every name must be a string", where, key, type_name(element)));
      }
      const std::string_view name = trim(text->get());
      if (!name.empty() && seen.insert(name)) names.push_back({std::string(name), position(element)});
    }
  }

  /// The trimmed text under `key`; absent keys give an empty field.
  Field read_text(const toml::table& table, std::string_view key, std::string_view where) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const auto* text = node->as_string();
    if (text == nullptr) {
      fail("wrong-type", position(*node),
           fmt::format("{}.{} is {}; it must be a string", where, key, type_name(*node)));
      return {};
    }
    return {std::string(trim(text->get())), position(*node)};
  }

  void read_entries(const toml::table& root) {
    const toml::node* node = root.get("asymmetry");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      return fail(
          "wrong-type", position(*node),
          fmt::format("asymmetry is {}; write every entry as an [[asymmetry]] table", type_name(*node)));
    }
    for (const toml::node& element : *list) {
      if (element.is_table()) continue;
      return fail("wrong-type", position(element),
                  fmt::format("asymmetry holds {}; every entry must be a table", type_name(element)));
    }
    contract_.asymmetries.reserve(list->size());
    for (const toml::node& element : *list) {
      read_entry(*element.as_table());
    }
  }

  void read_entry(const toml::table& table) {
    static constexpr std::string_view kWhere = "[[asymmetry]]";
    Asymmetry& entry = contract_.asymmetries.emplace_back();
    entry.at = position(table);
    read_key(table, entry);
    entry.entry_class = read_text(table, "class", kWhere);
    entry.treated = known_word<EntryClass>(entry.entry_class, kEntryClasses);
    entry.produced_by = read_text(table, "produced_by", kWhere);
    entry.producer = known_word<Producer>(entry.produced_by, kProducers);
    entry.derived_from = read_text(table, "derived_from", kWhere);
    entry.ref_kernel_regex = read_text(table, "ref_kernel_regex", kWhere);
    entry.student_kernel_regex = read_text(table, "student_kernel_regex", kWhere);
    entry.note = read_text(table, "note", kWhere);
    entry.dtype = read_text(table, "dtype", kWhere);
    if (const toml::node* shape = table.get("shape"); shape != nullptr) {
      entry.shape_at = position(*shape);
      entry.shape = read_shape(*shape, "shape");
    }
    read_workload_shapes(table, entry);
    warn_unknown(table, kEntryKeys, kWhere);
  }

  /// Exactly one of the four kinds keys an entry; a key with blank text keys nothing.
  void read_key(const toml::table& table, Asymmetry& entry) {
    const std::size_t errors_before = errors_.size();
    std::string given;
    for (std::size_t i = 0; i < kKindKeys.size(); ++i) {
      Field name = read_text(table, kKindKeys[i], "[[asymmetry]]");
      if (name.empty()) continue;
      given += fmt::format("{}{}", given.empty() ? "" : ", ", kKindKeys[i]);
      entry.kind = static_cast<EntryKind>(i);
      entry.name = std::move(name);
    }
    if (errors_.size() > errors_before) return;  // a key of another type is a key all the same
    if (given.empty()) {
      fail("asymmetry-key", entry.at,
           "this entry names no tensor: give it ref_input, student_input, ref_output or student_output");
    } else if (given.find(',') != std::string::npos) {
      fail(
          "asymmetry-key", entry.at,
          fmt::format("this entry is keyed by {}; give it exactly one, and the others an entry each", given));
    }
  }

  std::vector<std::int64_t> read_shape(const toml::node& node, std::string_view what) {
    std::vector<std::int64_t> shape;
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      fail("shape-type", position(node),
           fmt::format("{} is {}; it must be a list of integers, such as [2, 16, 2048]", what,
                       type_name(node)));
      return {};
    }
    shape.reserve(list->size());
    for (const toml::node& element : *list) {
      const auto* size = element.as_integer();
      if (size == nullptr) {
        fail("shape-type", position(element),
             fmt::format("{} holds {}; every size must be an integer", what, type_name(element)));
        return {};
      }
      shape.push_back(size->get());
    }
    return shape;
  }

  void read_workload_shapes(const toml::table& table, Asymmetry& entry) {
    const toml::node* node = table.get("workload_shapes");
    if (node == nullptr) return;
    const toml::table* shapes = node->as_table();
    if (shapes == nullptr) {
      return fail(
          "shape-type", position(*node),
          fmt::format("workload_shapes is {}; it must be a table of workload = [sizes]", type_name(*node)));
    }
    for (const auto& [workload, shape] : *shapes) {
      entry.workload_shapes.push_back({std::string(workload.str()), read_shape(shape, "workload_shapes")});
    }
  }

  template <std::size_t N>
  void warn_unknown(const toml::table& table, const std::array<std::string_view, N>& known,
                    std::string_view where) {
    for (const auto& [key, value] : table) {
      const std::string_view name = key.str();
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const TextPosition at = position(key);
      const std::optional<std::string> near = nearest_name(name, known);
      warnings_.push_back(diagnose("unknown-key",
                                   fmt::format("no rule reads the key {}{}{}", in_quotes(name),
                                               where.empty() ? "" : fmt::format(" of {}", where),
                                               near ? fmt::format("; did you mean {}?", *near) : ""),
                                   {contract_.file, at.line, at.column}));
    }
  }

  WindowContract contract_;
  Diagnostics warnings_;
  Diagnostics errors_;
};

}  // namespace

Parsed<WindowContract> parse_contract(std::string_view text, const std::string& file) {
  Parsed<toml::table> document = parse_toml(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  Parsed<WindowContract> contract = Reader(file).read(*document.value);
  contract.diagnostics.insert(contract.diagnostics.end(), document.diagnostics.begin(),
                              document.diagnostics.end());
  return contract;
}

Parsed<WindowContract> load_contract(const std::string& path) {
  Parsed<std::string> text = read_text_file(path, kMaxContractBytes);
  if (!text.ok()) return {std::nullopt, std::move(text.diagnostics)};
  return parse_contract(*text.value, path);
}

}  // namespace plumbline
