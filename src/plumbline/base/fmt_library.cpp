// SPDX-License-Identifier: Apache-2.0
// {fmt}'s compiled half, built from its own headers: Debian ships it as a shared object alone, and that one
// would bring the shared C++ runtime with it, so that every start of the tool spent most of its time in the
// dynamic loader.
#include <fmt/format-inl.h>

// What the headers declare as compiled elsewhere.
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
