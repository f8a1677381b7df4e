// SPDX-License-Identifier: Apache-2.0
// Names of the kernels that a library ran, recorded without timing: which tile it chose for which shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// Which kernel ran for one shape.
struct NamedShape {
  std::uint64_t key = 0;   ///< shape_key of the shape
  std::uint16_t name = 0;  ///< in KernelNames::names
};

/// Recorded kernels of any number of shapes.
struct KernelNames {
  std::vector<std::string> names;  ///< distinct, ascending; printable ASCII
  std::vector<NamedShape> shapes;  ///< ascending by key, each key once
};

inline constexpr std::size_t kMaxKernelName = 1000;  ///< longest name

/// True for printable ASCII of 1 to kMaxKernelName characters.
bool is_kernel_name(std::string_view name);

/// Puts (shape_key, name) pairs in order; the last name of a shape stands. Names must be kernel names.
/// Names beyond the first 65,535 different ones are left out.
KernelNames make_kernel_names(std::vector<std::pair<std::uint64_t, std::string>> recorded);

/// The kernel that ran for the shape of that shape_key; empty where none was recorded.
std::string_view find_kernel(const KernelNames& names, std::uint64_t key);

/// The tile a kernel's name tells, as "128x256", with " split-K" where k was divided (the name has
/// splitK in it):
/// nvjet_sm90_tst_128x256_64x4_1x2_…, cutlass_80_tensorop_…_128x256_64x3_…, sm80_xmma_…_tilesize128x64x32_….
/// Other names tell none and stand for themselves, without template arguments.
std::string tile_of(std::string_view kernel);

/// True when two kernels have different tiles; where either name tells none, when the names differ.
bool other_tile(std::string_view a, std::string_view b);

/// The compact form: 10 bytes a shape, and every name once.
void append_kernel_names(const KernelNames& names, std::string& out);
/// Reads what append_kernel_names wrote from the front of `bytes`; false when it is damaged or cut short.
bool take_kernel_names(std::string_view& bytes, KernelNames& names);

}  // namespace plumbline
