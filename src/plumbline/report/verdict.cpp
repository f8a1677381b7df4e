// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/verdict.h"

#include <nlohmann/json.hpp>

#include "plumbline/base/code_counter.h"
#include "plumbline/base/codes.h"

namespace plumbline {

Json reason_json(const Diagnostic& d) {
  const CodeInfo* info = find_code(d.code);
  return {{"code", d.code},
          {"severity", to_string(d.severity)},
          {"message", d.message},
          {"file", d.file.empty() ? Json() : Json(d.file)},
          {"line", d.line > 0 ? Json(d.line) : Json()},
          {"column", d.column > 0 ? Json(d.column) : Json()},
          {"fix", info ? Json(std::string(info->fix)) : Json()},
          {"retryable", is_retryable(d.code)}};
}

Json reasons_json(const Diagnostics& reasons) {
  Json list = Json::array();
  CodeCounter counter;
  for (const Diagnostic& d : reasons) {
    if (counter.shows(d)) list.push_back(reason_json(d));
  }
  for (const CodeCounter::Rest& rest : counter.rest()) {
    list.push_back(reason_json(rest.diagnostic));
    list.back()["left_out"] = rest.count;
  }
  return list;
}

Json verdict_json(bool ok, const std::string& verdict, const Diagnostics& reasons, Json numbers) {
  return {
      {"ok", ok}, {"verdict", verdict}, {"reasons", reasons_json(reasons)}, {"numbers", std::move(numbers)}};
}

}  // namespace plumbline
