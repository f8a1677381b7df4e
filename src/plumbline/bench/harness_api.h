// SPDX-License-Identifier: Apache-2.0
// The keywords of the functions that a bench calls. timing/python/plumbline is their source; a test compares.
#pragma once

#include <span>
#include <string_view>

namespace plumbline {

/// The keyword names that a function of the package plumbline takes; empty where it is not in the table.
std::span<const std::string_view> harness_keywords(std::string_view function);

}  // namespace plumbline
