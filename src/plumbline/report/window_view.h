// SPDX-License-Identifier: Apache-2.0
// A window contract as a two-sided boundary table: one view for the terminal and for Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// One tensor of the boundary.
struct WindowRow {
  std::string tensor;
  bool output = false;
  bool reference = false;   ///< the reference receives or makes it
  bool student = false;     ///< the student does
  std::string entry_class;  ///< of its entry; "explained" or "undeclared" on one side without one; else ""
  std::string payer;        ///< "student" or "reference" where somebody pays
  std::string detail;       ///< the priced launches, what a prep step is held to, or what explains it
  Style style = Style::plain;
};

/// Everything that the renderers show.
struct WindowView {
  std::string file;
  std::string reference_window;
  std::string student_window;
  std::vector<WindowRow> rows;  ///< inputs, then outputs; shared and reference's first, as listed
  Findings findings;
  Findings warnings;
  std::string summary;  ///< the verdict in one line
};

/// Collects the view of a contract and of what its checks found.
WindowView collect_window(const WindowContract& contract, const Findings& findings, const Findings& warnings);

/// For a terminal: both windows, the table, findings and warnings below, the verdict.
std::string render_text(const WindowView& view, const Look& look);

/// The same as compact Markdown: at most 25 rows and 25 findings, what was cut is counted.
std::string render_markdown(const WindowView& view);

/// What `window show --json` prints. `malformed`: the first load error's code, "" for none; `contract` may be
/// null.
Json window_json(std::string_view malformed, const WindowContract* contract, const Findings& findings,
                 const Findings& warnings);

}  // namespace plumbline
