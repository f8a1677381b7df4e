// SPDX-License-Identifier: Apache-2.0
// Kernel tables and their differences, for people.
#pragma once

#include <string>

#include "plumbline/report/text_table.h"
#include "plumbline/table/diff.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// Source, region, totals and account; the kernels by falling time; the notes. A name
/// that is too long for the width (64 characters without one) is shown as its identity, where only one
/// kernel has that.
std::string render_kernel_table(const KernelTable& table, const Look& look);

/// The same as Markdown: at most 25 kernels, names cut to 64 characters.
std::string render_kernel_table_markdown(const KernelTable& table);

/// What moved between two tables, by kernel identity; ambiguous joins are marked and explained.
std::string render_table_diff(const TableDiff& diff, const Look& look);

/// The same as Markdown.
std::string render_table_diff_markdown(const TableDiff& diff);

}  // namespace plumbline
