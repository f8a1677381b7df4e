// SPDX-License-Identifier: Apache-2.0
// HTML and SVG written element by element: every text and every attribute is escaped in one place.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace plumbline::html {

/// Text for an element's content or a quoted attribute. Control, bidi and invisible characters are made
/// visible, line breaks too: no input can change the page, or what it seems to say.
std::string escape(std::string_view text);

/// A length or a coordinate of an SVG, in user units: at most one digit behind the point.
std::string px(double value);

/// A piece of a page. Tags and attribute names are the caller's own literals; values and texts may be
/// anybody's.
class Html {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  Html& open(std::string_view tag, Attributes attributes = {});
  Html& close(std::string_view tag);
  /// <tag>text</tag>.
  Html& leaf(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An SVG element without content, or a void one of HTML.
  Html& empty(std::string_view tag, Attributes attributes);
  Html& text(std::string_view text);
  /// Another piece, as it is.
  Html& add(const Html& other);
  /// Trusted text: style sheets, scripts and JSON that can hold no "</".
  Html& raw(std::string_view trusted);

  const std::string& str() const { return out_; }
  bool empty() const { return out_.empty(); }

 private:
  void start(std::string_view tag, Attributes attributes);
  std::string out_;
};

}  // namespace plumbline::html
