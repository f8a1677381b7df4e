// SPDX-License-Identifier: Apache-2.0
// Which measured times cannot be true: faster than the GPU's peaks allow, or of another unit than the column
// says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace plumbline
