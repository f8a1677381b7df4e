// SPDX-License-Identifier: Apache-2.0
// Which measured times cannot be true: faster than the GPU's peaks allow, or of another unit than the column
// says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// Why a time is not believed.
struct Doubt {
  std::string_view code;  ///< row-impossible or row-unit-slip
  std::string why;        ///< with the time and what is plausible, in ms
};

/// Judges `us` microseconds against the data sheet's peaks and a plain estimate, both from `generic`.
std::optional<Doubt> implausible(const KernelSource& generic, const GemmShape& shape, double us);
std::optional<Doubt> implausible(const KernelSource& generic, const AttentionShape& shape, double us);
std::optional<Doubt> implausible(const KernelSource& generic, const ElementwiseShape& shape, double us);
std::optional<Doubt> implausible(const KernelSource& generic, const Layer& layer, double us);

std::optional<Doubt> implausible(const KernelSource& generic, const KernelRequest& request, double us);

struct MeasuredRows;
/// rows-host-time where the rows of file number `index` hold the host's time: small shapes, of which a kernel
/// takes a few microseconds, never fall below a floor that no kernel of their kind has.
std::optional<Diagnostic> host_time(const KernelSource& generic, const MeasuredRows& rows, int index,
                                    const std::string& file);

/// Whether more rows of a file are impossible than accidents explain (rows-not-this): ten rows, and one in
/// fifty. Honest public tables have at most three in a thousand.
std::optional<Diagnostic> measured_something_else(const RowFile& account, std::int64_t impossible,
                                                  const std::string& file);

}  // namespace plumbline
