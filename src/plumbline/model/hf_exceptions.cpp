// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_exceptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plumbline/base/text.h"

namespace plumbline::detail {
namespace {

/// Does a name with stars match, stars standing for any text?
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Is `part` a run of whole components ("mlp.gate") of the dotted name?
bool has_components(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

}  // namespace

std::string_view bare(std::string_view name) {
  const std::size_t at = name.find("layers.");
  return at == name.npos ? name : name.substr(at);
}

bool Exception::matches(std::string_view name) const {
  if (!regex.empty()) {
    return regex[0].search(name) == Regex::Match::yes ||
           regex[0].search(fmt::format("model.{}", name)) == Regex::Match::yes;
  }
  const std::string_view own = bare(text);
  if (own.find('*') != own.npos) return glob(own, name);
  return has_components(name, own);
}

std::vector<Exception> read_exceptions(HfReader& in, const Json* list) {
  std::vector<Exception> all;
  if (list == nullptr) return all;
  const bool names = list->is_array() && std::all_of(list->begin(), list->end(),
                                                     [](const Json& each) { return each.is_string(); });
  if (!names) {
    in.wrong("hf-field-invalid",
             fmt::format("the modules that quantization_config leaves out must be a list of names, not {}",
                         printable(cut_middle(write_json_line(*list), 40))),
             "quantization_config");
    return all;
  }
  for (const Json& each : *list) {
    Exception one{each.get<std::string>(), {}};
    if (one.text.starts_with("re:")) {
      auto compiled = Regex::compile(std::string_view(one.text).substr(3), false);
      if (!compiled.ok()) {
        in.wrong("hf-field-invalid",
                 fmt::format("quantization_config ignores '{}', which is not a regular expression: {}",
                             printable(cut_middle(one.text, 40)), compiled.error),
                 "ignore");
        return all;
      }
      one.regex = std::move(compiled.regex);
    }
    all.push_back(std::move(one));
  }
  return all;
}

bool excepted(const std::vector<Exception>& exceptions, std::string_view name) {
  return std::any_of(exceptions.begin(), exceptions.end(),
                     [&](const Exception& e) { return e.matches(name); });
}

}  // namespace plumbline::detail
