// SPDX-License-Identifier: Apache-2.0
// --html FILE of the commands that have a page.
#pragma once

#include <string>

#include "plumbline/base/files.h"
#include "plumbline/cli/command.h"

namespace plumbline::cli {

/// Writes what `make` returns to `path`, or nothing where no path was given. False where it could not be
/// written; why has then been reported.
template <class Make>
bool write_page(const Io& io, const std::string& path, const Make& make) {
  if (path.empty()) return true;
  const Diagnostics wrong = write_file(path, make());
  io.report(wrong);
  return wrong.empty();
}

}  // namespace plumbline::cli
