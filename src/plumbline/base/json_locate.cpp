// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/json_locate.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

std::vector<std::string> steps_of(std::string_view pointer) {
  std::vector<std::string> steps;
  for (std::size_t at = 0; at < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    std::string step;
    for (std::size_t i = at + 1; i < end; ++i) {
      const bool escape = pointer[i] == '~' && i + 1 < end;
      step += escape ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    steps.push_back(std::move(step));
    at = end;
  }
  return steps;
}

/// A cursor over valid JSON. On anything else it stops at the end of the text and never reads past it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  std::size_t find(const std::vector<std::string>& steps) {
    skip_blanks();
    std::size_t found = at_;
    for (const std::string& step : steps) {
      const std::size_t child = peek() == '{' ? member(step) : peek() == '[' ? element(step) : kNone;
      if (child == kNone) break;
      found = at_ = child;
    }
    return found;
  }

 private:
  static constexpr std::size_t kNone = std::string_view::npos;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::size_t end = std::min(at_, text_.size());
    at_ = std::min(end + 1, text_.size());
    return text_.substr(begin, end - begin);
  }

  void skip_value() {
    int depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        string();
      } else {
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (depth < 0) return;
        ++at_;
      }
      if (depth == 0 && (peek() == ',' || peek() == '}' || peek() == ']')) return;
    } while (at_ < text_.size());
  }

  /// The last member of that name; keys are compared as written, which escapes in a key would escape.
  std::size_t member(const std::string& name) {
    std::size_t found = kNone;
    ++at_;
    for (skip_blanks(); peek() == '"'; skip_blanks()) {
      const std::string_view key = string();
      skip_blanks();
      ++at_;
      skip_blanks();
      if (key == name) found = std::min(at_, text_.size());
      skip_value();
      skip_blanks();
      if (peek() != ',') break;
      ++at_;
    }
    return found;
  }

  std::size_t element(const std::string& index) {
    ++at_;
    skip_blanks();
    for (std::size_t i = 0; at_ < text_.size() && peek() != ']'; ++i) {
      if (std::to_string(i) == index) return at_;
      skip_value();
      skip_blanks();
      if (peek() != ',') break;
      ++at_;
      skip_blanks();
    }
    return kNone;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Location locate_json(std::string_view text, std::string_view pointer, const std::string& file) {
  const TextPosition at = position_at(text, Cursor(text).find(steps_of(pointer)));
  return {file, at.line, at.column};
}

std::string_view text_at_json(std::string_view text, std::string_view pointer) {
  return text.substr(std::min(Cursor(text).find(steps_of(pointer)), text.size()));
}

}  // namespace plumbline
