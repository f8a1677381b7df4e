// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/matcher.h"

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::string_view kMeta = "\\^$.|?*+()[]{}";

bool is_literal(std::string_view pattern) {
  // PCRE2 refuses a pattern that is not UTF-8, so it must not pass for a plain text here.
  return !pattern.empty() && pattern.find_first_of(kMeta) == std::string_view::npos &&
         !first_invalid_utf8(pattern);
}

/// Reads one pattern left to right and keeps, for the current alternative, the longest text that every match
/// must hold. `ok` turns false on syntax that it does not know; then nothing may be concluded.
class LiteralScan {
 public:
  explicit LiteralScan(std::string_view pattern) : p_(pattern) {}

  std::vector<std::string> run() {
    while (ok_ && at_ < p_.size()) step();
    end_alternative();
    return ok_ && depth_ == 0 ? found_ : std::vector<std::string>{};
  }

 private:
  void step() {
    const char c = p_[at_];
    switch (c) {
      case '\\':
        escape();
        return;
      case '[':
        skip_class();
        return;
      case '(':
        // (?…) may carry flags or look around, (*…) is a verb: neither is read here. (?:…) is a plain group.
        if (p_.substr(at_).starts_with("(?:")) {
          at_ += 2;
        } else if (p_.substr(at_).starts_with("(?") || p_.substr(at_).starts_with("(*")) {
          ok_ = false;
        }
        end_run();
        ++depth_;
        break;
      case ')':
        end_run();
        if (--depth_ < 0) ok_ = false;
        break;
      case '|':
        if (depth_ == 0) {
          end_alternative();
        }
        break;
      case '?':
      case '*':
      case '{':
        drop_last();
        end_run();
        if (c == '{') skip_counts();
        break;
      case '+':
      case '^':
      case '$':
      case '.':
        end_run();
        break;
      default:
        add(c);
        return;
    }
    ++at_;
  }

  void add(char c) {
    if (depth_ == 0) run_ += c;
    ++at_;
  }

  void escape() {
    if (at_ + 1 >= p_.size()) {
      ok_ = false;
      return;
    }
    const char c = p_[at_ + 1];
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    ++at_;
    if (!alnum && static_cast<unsigned char>(c) < 0x80) {
      add(c);
      return;
    }
    if (std::string_view("bBdDwWsSAZz").find(c) == std::string_view::npos) ok_ = false;
    end_run();
    ++at_;
  }

  /// Stands on '{' and goes to its '}'. Braces that hold no counts are plain text to PCRE2: not read here.
  void skip_counts() {
    const std::size_t end = p_.find_first_not_of("0123456789,", at_ + 1);
    if (end == std::string_view::npos || p_[end] != '}' || end == at_ + 1) {
      ok_ = false;
      return;
    }
    at_ = end;
  }

  void skip_class() {
    end_run();
    std::size_t i = at_ + 1;
    if (i < p_.size() && p_[i] == '^') ++i;
    if (i < p_.size() && p_[i] == ']') ++i;
    for (; i < p_.size() && p_[i] != ']'; ++i) {
      if (p_[i] == '[') ok_ = false;  // [:alpha:] or a nested set: not read here
      if (p_[i] == '\\') {
        ++i;
        if (i < p_.size() && (p_[i] == 'Q' || p_[i] == 'E')) ok_ = false;  // quoting could hide the ']'
      }
    }
    if (i >= p_.size()) ok_ = false;
    at_ = i + 1;
  }

  /// The last character of the run is optional: it leaves, whole, however many bytes it has.
  void drop_last() {
    while (!run_.empty() && (static_cast<unsigned char>(run_.back()) & 0xC0) == 0x80) run_.pop_back();
    if (!run_.empty()) run_.pop_back();
  }

  void end_run() {
    if (run_.size() > best_.size()) best_ = run_;
    run_.clear();
  }

  void end_alternative() {
    end_run();
    if (best_.size() < 2) ok_ = false;
    found_.push_back(std::move(best_));
    best_.clear();
  }

  std::string_view p_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
  std::string run_;
  std::string best_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> required_literals(std::string_view pattern) {
  if (is_literal(pattern)) return {std::string(pattern)};
  return LiteralScan(pattern).run();
}

NameMatcher::NameMatcher(std::string_view pattern)
    : pattern_(pattern), literal_(is_literal(pattern)), needles_(required_literals(pattern)) {}

const Regex* NameMatcher::compiled() {
  // Behind needles it sees few names, and the interpreter is cheapest; else a JIT has paid for itself after
  // some fifty names.
  if (!regex_) regex_ = Regex::compile(pattern_, needles_.empty());
  return regex_->ok() ? &regex_->regex.front() : nullptr;
}

Regex::Match NameMatcher::search(std::string_view name) {
  const auto holds = [name](const std::string& needle) {
    return name.find(needle) != std::string_view::npos;
  };
  if (!needles_.empty() && std::none_of(needles_.begin(), needles_.end(), holds)) return Regex::Match::no;
  if (literal_) return Regex::Match::yes;
  const Regex* regex = compiled();
  return regex ? regex->search(name) : Regex::Match::no;
}

std::vector<std::pair<std::size_t, std::size_t>> NameMatcher::find_all(std::string_view name) {
  if (!literal_) {
    const Regex* regex = compiled();
    return regex ? regex->find_all(name) : std::vector<std::pair<std::size_t, std::size_t>>{};
  }
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t at = name.find(pattern_); at != std::string_view::npos; at = name.find(pattern_, at)) {
    found.emplace_back(at, at + pattern_.size());
    at += pattern_.size();
  }
  return found;
}

}  // namespace plumbline
