// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/cpp_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace plumbline {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// The length of the word "operator" with its symbol at `at`, or 0. Nsight Compute prints "operator ()".
std::size_t operator_length(std::string_view name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!name.substr(at).starts_with(kWord) || (at > 0 && word_char(name[at - 1]))) return 0;
  const std::string_view rest = name.substr(at + kWord.size());
  // Longest first; "<<" only where it is not a bracket behind operator<.
  constexpr auto kSymbols = std::to_array<std::string_view>(
      {" ()", " []", "()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==",
       "!=",  "&&",  "||", "++", "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "<",
       ">",   "=",   "!",  "+",  "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  ","});
  for (const std::string_view symbol : kSymbols) {
    if (rest.starts_with(symbol)) return kWord.size() + symbol.size();
  }
  return 0;
}

class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  CppName read() {
    while (at_ < name_.size() && !done_) step();
    CppName out;
    out.base = {begin_, end_ == kNone ? name_.size() : end_};
    out.open = !stack_.empty();
    if (out.open && opened_ != kNone) ranges_.emplace_back(opened_, name_.size());
    out.arguments = std::move(ranges_);
    return out;
  }

 private:
  bool starts(std::size_t at, std::string_view what) const { return name_.substr(at, what.size()) == what; }
  char before() const { return at_ == 0 ? '\0' : name_[at_ - 1]; }

  void step() {
    if (const std::size_t length = name_[at_] == 'o' ? operator_length(name_, at_) : 0; length > 0) {
      at_ += length;
      operator_end_ = at_;
    } else if (const std::size_t atom = unnamed_length(); atom > 0) {
      at_ += atom;
    } else if (starts(at_, "->")) {
      at_ += 2;
    } else {
      take(name_[at_]);
    }
  }

  /// The length of "<unnamed>", or of "unnamed>" that lost its bracket. "f<unnamed>::T" is the damaged form
  /// of "f<<unnamed>::T": a bracket right behind a word opens arguments.
  std::size_t unnamed_length() const {
    if (word_char(before())) return 0;
    if (starts(at_, "<unnamed>")) return 9;
    return starts(at_, "unnamed>::") ? 8 : 0;
  }

  void take(char c) {
    switch (c) {
      case '<':
      case '(':
      case '[':
      case '{':
        return open(c);
      case '>':
      case ')':
      case ']':
      case '}':
        return close(c);
      case ' ':
        if (stack_.empty()) return blank();
        break;
      case ':':
        if (stack_.empty() && starts(at_, "::")) {
          at_ += 2;
          begin_ = at_;
          end_ = kNone;
          return;
        }
        break;
      default:
        break;
    }
    ++at_;
  }

  static std::size_t index(char c) {
    return c == '<' || c == '>' ? 0U : c == '(' || c == ')' ? 1U : c == '[' || c == ']' ? 2U : 3U;
  }

  void open(char c) {
    const bool behind_operator = at_ > 0 && operator_end_ == at_;
    // Behind a closed bracket "<" compares: "f<(4)<(8)>".
    if (c == '<' && !stack_.empty() && before() == ')' && !behind_operator) {
      ++at_;
      return;
    }
    if (stack_.empty()) {
      opened_ = kNone;
      parameters_ = false;
      const bool inside_name = at_ == begin_ && !behind_operator;  // "{lambda(int)#1}", "[CUDA memcpy HtoD]"
      if (c == '(') parameters_ = opens_parameters();
      if ((c == '<' && !inside_name) || parameters_) opened_ = at_;
      if (!inside_name && end_ == kNone && (c != '(' || parameters_)) end_ = at_;
    }
    stack_.push_back(c);
    ++depths_[index(c)];
    ++at_;
  }

  /// A parameter list follows its name directly; a profiler's remark, "Memset (Device)", follows a blank.
  bool opens_parameters() const {
    if (at_ == 0 || before() == ' ' || before() == ':') return false;
    return !std::string_view(name_.substr(begin_, at_ - begin_)).ends_with("decltype");
  }

  void close(char c) {
    constexpr std::string_view kOpeners = "<([{";
    const std::size_t kind = index(c);
    const char opener = kOpeners[kind];
    ++at_;
    if (depths_[kind] == 0) return;                     // nothing to close
    if (opener == '<' && stack_.back() != '<') return;  // a comparison inside other brackets
    while (true) {
      const char top = stack_.back();
      stack_.pop_back();
      --depths_[index(top)];
      if (top == opener) break;
    }
    if (!stack_.empty()) return;
    if (opened_ != kNone) ranges_.emplace_back(opened_, at_);
    if (parameters_ && end_ != kNone) done_ = !more_follows();
    opened_ = kNone;
  }

  /// Behind a parameter list: a scope, more brackets ("operator()" was taken before), or nothing of the name.
  bool more_follows() const {
    std::size_t at = at_;
    for (const std::string_view word : {" const", " volatile", " &&", " &"}) {
      if (starts(at, word)) at += word.size();
    }
    return starts(at, "::") || starts(at, "(") || starts(at, "<");
  }

  /// "void f", "std::enable_if<…>::type f": what stood before a blank was the return type. " const" and
  /// " [clone …]" behind the name belong to nothing.
  void blank() {
    const bool suffix = at_ + 1 == name_.size() || starts(at_, " const") || starts(at_, " [") ||
                        starts(at_, " (") || starts(at_, " <");
    if (suffix && at_ > begin_) {
      if (end_ == kNone) end_ = at_;
      // "void <unnamed>::f", "void [lambda…]::f": a scope follows, which the next "::" begins anew.
    } else {
      begin_ = at_ + 1;
      end_ = kNone;
    }
    ++at_;
  }

  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;         ///< of the current component
  std::size_t end_ = kNone;       ///< where its arguments begin
  std::size_t opened_ = kNone;    ///< where the open outermost argument list began
  std::size_t operator_end_ = 0;  ///< behind the last operator's symbol
  bool parameters_ = false;       ///< the open outermost list is a parameter list
  bool done_ = false;
  std::string stack_;
  std::array<std::size_t, 4> depths_{};  ///< open brackets by kind
  std::vector<ByteRange> ranges_;
};

}  // namespace

CppName read_cpp_name(std::string_view name) { return NameReader(name).read(); }

std::vector<ByteRange> argument_ranges(std::string_view name) {
  if (name.starts_with("_Z")) return {};
  return read_cpp_name(name).arguments;
}

bool only_inside(std::span<const ByteRange> matches, std::span<const ByteRange> arguments) {
  return !matches.empty() && std::all_of(matches.begin(), matches.end(), [&](const ByteRange& match) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const ByteRange& range) {
      return range.first <= match.first && match.second <= range.second;
    });
  });
}

}  // namespace plumbline
