// SPDX-License-Identifier: Apache-2.0
// Generic constants of the measured model's formulas: where fits start, and what a source takes for an
// operation that nobody measured on its GPU.
#pragma once

#include <array>
#include <vector>

#include "plumbline/model/measured.h"

namespace plumbline {

/// Constants between those fitted to Hopper's and Ampere's GEMMs, in the order of kGemmConstants.
inline const std::vector<double> kGenericGemm{2.7, .84, 2.4, .92, .03, .4, 200, 2.2, 1.1, .035, -.12};
/// Kernels that load less than 16 bytes at once, fitted to an H200's misaligned GEMMs: a quarter of the peak.
inline const std::vector<double> kGenericMisaligned{2.3, .56, 3.0, .27, .32, .14, 450, .1, .9, .19, -.9};
inline const std::vector<double> kGenericPrefill{9.4, 1.3, 250, 1.7, .5, 0, .8, .15, 2.3, 0};
inline const std::vector<double> kGenericDecode{9.8, .88, .027};
inline constexpr std::array<double, 5> kGenericElementwise{2.5, .2, .75, .5, 2};

/// Fusion terms of layers nobody measured: each kernel costs what it costs alone, half of the residual
/// stream's traffic is served by L2.
inline constexpr std::array<double, kLayerTermCount> kGenericLayer{1,  .02, 1,  1,  2.5, .5, 1.5,
                                                                   .5, .3,  .8, .5, 1,   0};

/// What putting measured kernels together to a layer adds to their errors, on log time: nine in ten of an
/// H200's layers lie so near the sum of their kernels under these terms.
inline constexpr double kAssemblyHalfWidth = 0.10;

/// Half-width on log time of a band that rests on generic constants.
inline constexpr double kGenericHalfWidth = 0.6;

}  // namespace plumbline
