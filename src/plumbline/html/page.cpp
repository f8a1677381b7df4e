// SPDX-License-Identifier: Apache-2.0
#include "plumbline/html/page.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "plumbline/html/assets.h"

namespace plumbline::html {
namespace {

/// 'sha256-…' of a style sheet or a script, as a content security policy names it.
std::string policy_hash(std::string_view text) {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  sha256_digest(&context, digest.size(), digest.data());
  std::string encoded(BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE), '\0');
  base64_encode_raw(encoded.data(), digest.size(), digest.data());
  return "'sha256-" + encoded + "'";
}

/// JSON inside a script element: no "<", so that nothing in it can end the element.
std::string script_json(const Json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view tone_class(Tone tone) {
  return tone == Tone::good ? "verdict good" : tone == Tone::bad ? "verdict bad" : "verdict";
}

std::string_view style_class(Style style) {
  switch (style) {
    case Style::good:
      return "good";
    case Style::bad:
      return "bad";
    case Style::warn:
      return "warn";
    case Style::dim:
      return "dim";
    default:
      return "";
  }
}

}  // namespace

std::string render_page(const Page& page) {
  Html out;
  out.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).raw("\n").open("head").raw("\n");
  out.empty("meta", {{"charset", "utf-8"}}).raw("\n");
  // Nothing may be asked for, and nothing may run but what this page was written with.
  out.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                     {"content", "default-src 'none'; style-src " + policy_hash(assets::style()) +
                                     "; script-src " + policy_hash(assets::script())}})
      .raw("\n");
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}).raw("\n");
  out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}}).raw("\n");
  out.leaf("title", page.title);
  out.open("style").raw(assets::style()).close("style");
  out.close("head").open("body").raw("\n");
  out.leaf("a", "To the content", {{"class", "skip"}, {"href", "#content"}});
  out.open("main", {{"id", "content"}}).raw("\n");
  out.leaf("h1", page.title);
  if (!page.verdict.empty()) {
    out.open("p", {{"class", tone_class(page.tone)}}).leaf("strong", page.verdict).close("p");
  }
  out.add(page.body);
  out.close("main");
  out.open("footer").leaf(
      "p", "Made by plumbline. This file asks for nothing and holds everything that it shows.");
  out.close("footer");
  out.open("script").raw(assets::script()).close("script");
  out.close("body").close("html");
  return out.str();
}

void begin_section(Html& out, std::string_view id, const std::string& heading) {
  out.open("section", {{"aria-labelledby", id}}).raw("\n").leaf("h2", heading, {{"id", id}});
}

void end_section(Html& out) { out.close("section"); }

void add_list(Html& out, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  out.open("ul");
  for (const std::string& sentence : sentences) out.leaf("li", sentence);
  out.close("ul");
}

Html table_html(const TextTable& table, const TableOptions& options) {
  Html out;
  out.open("div",
           {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", options.caption}});
  if (options.sortable && !options.more.empty()) {
    out.open("table", {{"class", "data"}, {"data-more", options.more}});
  } else {
    out.open("table", {{"class", options.sortable ? "data" : "plain"}});
  }
  out.leaf("caption", options.caption);
  bool any_head = false;
  for (const auto& column : table.columns) any_head |= !column.head.empty();
  const auto align = [&](std::size_t i) {
    return i < table.columns.size() && table.columns[i].align == Align::right ? "number" : "text";
  };
  if (any_head) {
    out.open("thead").open("tr");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].head.empty()) {
        out.open("td").close("td");
      } else {
        out.leaf("th", table.columns[i].head, {{"scope", "col"}, {"class", align(i)}});
      }
    }
    out.close("tr").close("thead");
  }
  out.open("tbody");
  for (const auto& row : table.rows) {
    if (row.empty()) continue;
    out.open("tr");
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.open("td", {{"class", align(i)}});
      const std::string_view css = style_class(row[i].style);
      if (row[i].style == Style::bold) {
        out.leaf("strong", row[i].text);
      } else if (!css.empty() && !row[i].text.empty()) {
        out.leaf("span", row[i].text, {{"class", css}});
      } else {
        out.text(row[i].text);
      }
      out.close("td");
    }
    out.close("tr");
  }
  out.close("tbody").close("table").close("div");
  return out;
}

void add_data(Html& out, std::string_view id, const Json& value) {
  out.open("script", {{"type", "application/json"}, {"id", id}}).raw(script_json(value)).close("script");
}

void add_long_table(Html& out, TextTable table, const std::string& caption, std::string_view id,
                    std::string_view what) {
  constexpr std::size_t kRowsInPage = 100;
  const bool more = table.rows.size() > kRowsInPage;
  if (more) {
    out.leaf("p", fmt::format("The first {} of {} {}.", kRowsInPage, table.rows.size(), what));
    Json rows = Json::array();
    for (std::size_t i = kRowsInPage; i < table.rows.size(); ++i) {
      Json cells = Json::array();
      for (const Cell& cell : table.rows[i]) cells.push_back(cell.text);
      rows.push_back(std::move(cells));
    }
    add_data(out, id, rows);
    table.rows.resize(kRowsInPage);
  }
  out.add(table_html(table, {caption, true, more ? std::string(id) : ""}));
}

void add_documents(Html& out, const std::vector<std::pair<std::string, Json>>& documents,
                   std::string_view id) {
  if (documents.empty()) return;
  if (documents.size() > 1) {
    // What differs only: a hundred documents share most of their lines.
    const Json& base = documents.front().second;
    Json all = Json::array();
    for (const auto& [name, document] : documents) {
      Json apart = Json::object();
      for (const auto& [key, value] : document.items()) {
        if (!base.contains(key) || base[key] != value) apart[key] = value;
      }
      for (const auto& [key, value] : base.items()) {
        if (!document.contains(key)) apart[key] = nullptr;  // is left out
      }
      all.push_back({name, std::move(apart)});
    }
    add_data(out, id, {{"base", base}, {"all", std::move(all)}});
    out.open("pre", {{"class", "copy"}, {"tabindex", "0"}, {"data-choices", id}});
  } else {
    out.open("pre", {{"class", "copy"}, {"tabindex", "0"}});
  }
  const std::string text = documents.front().second.dump(2);
  // line by line: a line break is text here, not a hidden character
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.text(text.substr(at, end - at)).raw("\n");
    at = end + 1;
  }
  out.close("pre");
}

}  // namespace plumbline::html
