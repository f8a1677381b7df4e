// SPDX-License-Identifier: Apache-2.0
// The workloads that a bench spells out.
#pragma once

#include <string>
#include <vector>

namespace plumbline {

/// The names of the Workload("NAME", …) elements of the one list that measure_windows_workloads is given,
/// also through a function of the bench that hands its parameter on, where that list is written out; empty
/// where it is built, where the file does not parse, or is not there.
std::vector<std::string> spelled_workloads(const std::string& bench);

/// Does a launch script read a workload's name behind the side, as sys.argv[2]?
bool takes_workload(const std::string& script);

}  // namespace plumbline
