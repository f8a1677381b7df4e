// SPDX-License-Identifier: Apache-2.0
// A page: one HTML file that asks for nothing, says everything without style and script, and reads from top
// to bottom.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/html/charts.h"
#include "plumbline/html/element.h"
#include "plumbline/report/text_table.h"

namespace plumbline::html {

/// What a page holds.
struct Page {
  std::string title;
  std::string verdict;      ///< one sentence in words; "" for none
  Tone tone = Tone::plain;  ///< of the verdict: good, bad or plain
  Html body;                ///< sections
};

/// The whole document, with a policy that lets nothing else run and nothing be asked for. The same page gives
/// the same bytes: no clock, host or path.
std::string render_page(const Page& page);

/// <section> with its heading; `id` is a literal.
void begin_section(Html& out, std::string_view id, const std::string& heading);
void end_section(Html& out);
/// Sentences as a list; nothing for none.
void add_list(Html& out, const std::vector<std::string>& sentences);

/// How a table stands on a page.
struct TableOptions {
  std::string caption;
  bool sortable = false;  ///< a reader with scripts can sort and filter
  std::string more;       ///< id of the data block with rows beyond these, see add_rows(); "" for none
};
/// A real table, head cells named as such. Empty rows (rules of a terminal) are left out.
Html table_html(const TextTable& table, const TableOptions& options);
/// A data block: JSON that scripts of the page may read; it never runs.
void add_data(Html& out, std::string_view id, const Json& value);
/// A sortable table of any length: its first hundred rows, a sentence that counts the `what` that there are,
/// and the others as the data block `id`, which scripts show.
void add_long_table(Html& out, TextTable table, const std::string& caption, std::string_view id,
                    std::string_view what);
/// A JSON document to be copied, and others (names and documents in pairs, that one first) that a reader with
/// scripts chooses from; `id` names their data block.
void add_documents(Html& out, const std::vector<std::pair<std::string, Json>>& documents,
                   std::string_view id);

}  // namespace plumbline::html
