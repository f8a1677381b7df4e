// SPDX-License-Identifier: Apache-2.0
#include "plumbline/html/element.h"

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline::html {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string px(double value) {
  std::string text = format_fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

void Html::start(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += escape(value);
    out_ += '"';
  }
}

Html& Html::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += '>';
  return *this;
}

Html& Html::close(std::string_view tag) {
  out_ += "</";
  out_ += tag;
  out_ += ">\n";
  return *this;
}

Html& Html::leaf(std::string_view tag, std::string_view text, Attributes attributes) {
  open(tag, attributes);
  out_ += escape(text);
  return close(tag);
}

Html& Html::empty(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += "/>";
  return *this;
}

Html& Html::text(std::string_view text) {
  out_ += escape(text);
  return *this;
}

Html& Html::add(const Html& other) {
  out_ += other.out_;
  return *this;
}

Html& Html::raw(std::string_view trusted) {
  out_ += trusted;
  return *this;
}

}  // namespace plumbline::html
