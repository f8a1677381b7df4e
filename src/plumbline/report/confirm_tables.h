// SPDX-License-Identifier: Apache-2.0
// Private to the renderers of a ConfirmView: the tables and sentences that text, Markdown and the page share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/report/confirm_view.h"
#include "plumbline/report/text_table.h"

namespace plumbline::detail {

/// The number with `digits`, or a dash.
std::string fixed(const std::optional<double>& value, int digits);
std::string percent(double value);
/// "0.993 to 1.004", or "".
std::string range(const std::optional<Interval>& interval, int digits);
/// Launches: grouped where whole, else with one digit.
std::string counted(double value);

TextTable ratio_table(const ConfirmView& view);
TextTable workload_table(const ConfirmView& view);
/// Both sides in one table, so that their columns line up.
TextTable kernel_table(const ConfirmView& view, bool with_side);
TextTable window_table(const ConfirmView& view);
TextTable source_table(const ConfirmView& view);
/// What one side alone launches, a sentence each; the first few by time.
std::vector<std::string> one_sided_words(const ConfirmView& view);
/// The two runs in sentences.
std::vector<std::string> against_words(const Rerun& rerun);

}  // namespace plumbline::detail
