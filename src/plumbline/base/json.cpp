// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/json.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr int kMaxDepth = 200;

/// The offset at which nesting passes kMaxDepth, or npos. Strings are skipped; syntax is the parser's job.
std::size_t too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

/// nlohmann's text after its "[json.exception.parse_error.101] parse error at line 1, column 2: " prefix.
std::string plain_message(std::string_view what) {
  const std::size_t at = what.find("column ");
  const std::size_t colon = at == std::string_view::npos ? at : what.find(": ", at);
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// Builds a value whose objects keep the order of their keys. The library's own builder looks through all
/// keys of an object for each new one, which takes seconds with 80,000 of them.
class OrderedBuilder {
 public:
  explicit OrderedBuilder(OrderedJson& root) : root_(root) {}

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(std::int64_t value) { return scalar(value); }
  bool number_unsigned(std::uint64_t value) { return scalar(value); }
  bool number_float(double value, const std::string&) { return scalar(value); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(OrderedJson::binary_t& value) { return scalar(std::move(value)); }
  bool start_object(std::size_t) { return open(OrderedJson::object()); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(OrderedJson::array()); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Open& object = open_.back();
    auto& members = object.value->get_ref<OrderedJson::object_t&>();
    const auto [at, fresh] = object.places.try_emplace(name, members.size());
    if (fresh) members.push_back({std::move(name), OrderedJson()});
    object.member = &(members.begin() + static_cast<std::ptrdiff_t>(at->second))
                         ->second;  // of a key that appears twice the last value counts
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception& error) {
    throw error;
  }

 private:
  struct Open {
    OrderedJson* value;
    OrderedJson* member = nullptr;
    std::unordered_map<std::string, std::size_t> places{};
  };

  template <class Value>
  OrderedJson* put(Value&& value) {
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Open& inner = open_.back();
    if (inner.value->is_array()) {
      inner.value->push_back(std::forward<Value>(value));
      return &inner.value->back();
    }
    *inner.member = std::forward<Value>(value);
    return inner.member;
  }
  template <class Value>
  bool scalar(Value&& value) {
    put(OrderedJson(std::forward<Value>(value)));
    return true;
  }
  bool open(OrderedJson value) {
    open_.push_back({put(std::move(value))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  OrderedJson& root_;
  std::vector<Open> open_;
};

Json parsed(std::string_view text, const Json*) { return Json::parse(text.begin(), text.end()); }

OrderedJson parsed(std::string_view text, const OrderedJson*) {
  OrderedJson root;
  OrderedBuilder builder(root);
  OrderedJson::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

template <class J>
Parsed<J> parse_as(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (const std::size_t deep = too_deep_at(text); deep != std::string_view::npos) {
    const TextPosition at = position_at(text, deep);
    return failed<J>(diagnose("json-too-deep", "nested more than 200 deep", {file, at.line, at.column}));
  }
  try {
    return {parsed(text, static_cast<const J*>(nullptr)), {}};
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const TextPosition at = position_at(text, offset);
    return failed<J>(diagnose("json-syntax", plain_message(error.what()), {file, at.line, at.column}));
  } catch (
      const nlohmann::json::exception& error) {  // a number outside double's range, in quotes in the message
    const std::string_view what = error.what();
    const std::size_t open = what.find('\''), close = what.rfind('\'');
    const bool named = open != std::string_view::npos && close > open + 1;
    const std::string_view number = named ? what.substr(open + 1, close - open - 1) : std::string_view();
    const TextPosition at = position_at(text, named ? std::min(text.find(number), text.size()) : 0);
    const std::string message =
        named ? cut_middle(number, 40) + " is beyond the range of numbers" : std::string(what);
    return failed<J>(diagnose("json-syntax", message, {file, at.line, at.column}));
  }
}

void append_escape(std::string& out, unsigned code_unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code_unit >> shift) & 0xF];
}

/// A JSON string in ASCII, as Python writes it. Bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      ++i;
      switch (byte) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        default:
          if (byte < 0x20 || byte == 0x7F) {
            append_escape(out, byte);
          } else {
            out += static_cast<char>(byte);
          }
      }
      continue;
    }
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (i + length > text.size() || first_invalid_utf8(text.substr(i, length))) {
      append_escape(out, 0xFFFD);
      ++i;
      continue;
    }
    unsigned point = byte & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k)
      point = (point << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    i += length;
    if (point >= 0x10000) {
      append_escape(out, 0xD800 + ((point - 0x10000) >> 10));
      append_escape(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      append_escape(out, point);
    }
  }
  out += '"';
}

/// `indent` < 0 writes one line.
void append_value(std::string& out, const Json& value, int indent, int depth) {
  const auto newline = [&](int level) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * level), ' ');
  };
  switch (value.type()) {
    case Json::value_t::object: {
      if (value.empty()) {
        out += "{}";
        return;
      }
      out += '{';
      bool first = true;
      for (const auto& [key, item] : value.items()) {
        if (!first) out += ',';
        first = false;
        newline(depth + 1);
        append_string(out, key);
        out += indent < 0 ? ":" : ": ";
        append_value(out, item, indent, depth + 1);
      }
      newline(depth);
      out += '}';
      return;
    }
    case Json::value_t::array: {
      if (value.empty()) {
        out += "[]";
        return;
      }
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ',';
        newline(depth + 1);
        append_value(out, value[i], indent, depth + 1);
      }
      newline(depth);
      out += ']';
      return;
    }
    case Json::value_t::string:
      append_string(out, value.get_ref<const std::string&>());
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      out += std::to_string(value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      out += std::to_string(value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      out += std::isfinite(number) ? format_double(number) : "null";
      return;
    }
    default:
      out += "null";
      return;
  }
}

}  // namespace

Parsed<Json> parse_json(std::string_view text, const std::string& file) { return parse_as<Json>(text, file); }

Parsed<OrderedJson> parse_json_ordered(std::string_view text, const std::string& file) {
  return parse_as<OrderedJson>(text, file);
}

std::optional<Diagnostic> duplicate_key(std::string_view text, const std::string& file) {
  std::vector<std::unordered_set<std::string>> objects;  // one a level; an array's stays empty
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') objects.emplace_back();
    if ((c == '}' || c == ']') && !objects.empty()) objects.pop_back();
    if (c != '"') continue;
    const std::size_t begin = i;
    bool escaped = false;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] != '\\') continue;
      escaped = true;
      ++i;
    }
    const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
    if (next == std::string_view::npos || text[next] != ':' || objects.empty()) continue;
    const std::string_view token = text.substr(begin, i + 1 - begin);
    std::string key(token.substr(1, token.size() - 2));
    if (escaped) {
      const Json meant = Json::parse(token, nullptr, false);
      if (meant.is_string()) key = meant.get<std::string>();
    }
    if (objects.back().insert(key).second) continue;
    const TextPosition at = position_at(text, begin);
    return diagnose("json-duplicate-key", in_quotes(key) + " appears twice in this object",
                    {file, at.line, at.column});
  }
  return std::nullopt;
}

std::string write_json(const Json& value) {
  std::string out;
  append_value(out, value, 2, 0);
  out += '\n';
  return out;
}

std::string write_json_line(const Json& value) {
  std::string out;
  append_value(out, value, -1, 0);
  return out;
}

}  // namespace plumbline
