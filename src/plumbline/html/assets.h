// SPDX-License-Identifier: Apache-2.0
// The style sheet and the script of every page: page.css and page.js, embedded when the library is built.
#pragma once

#include <string_view>

namespace plumbline::html::assets {

std::string_view style();
std::string_view script();

}  // namespace plumbline::html::assets
