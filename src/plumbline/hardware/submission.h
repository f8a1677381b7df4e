// SPDX-License-Identifier: Apache-2.0
// One file of measurements from anyone's card: what `plumbline hardware submit` writes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/model/hardware.h"

namespace plumbline {

/// One table of a submission.
struct SubmissionTable {
  std::string name;  ///< "gemm_fp8"
  std::string_view text;
  int line = 1;  ///< where its header stands in the file
};

/// A submission, verified. Views point into the text it was read from.
struct Submission {
  std::map<std::string, std::string, std::less<>> about;  ///< "gpu", "driver", "window.host", …
  std::vector<SubmissionTable> tables;
  std::string sha256;  ///< of all above the line that holds it

  /// The value of `key`; every key of kSubmissionKeys has one.
  const std::string& of(std::string_view key) const { return about.find(key)->second; }
};

/// What a submission must say of itself.
inline constexpr std::array<std::string_view, 12> kSubmissionKeys{"gpu",
                                                                  "sms",
                                                                  "memory_bytes",
                                                                  "l2_bytes",
                                                                  "driver",
                                                                  "framework",
                                                                  "window.quantisation",
                                                                  "window.allocation",
                                                                  "window.host",
                                                                  "timer",
                                                                  "flush",
                                                                  "clocks"};

/// Whether the text says that it is one.
bool is_submission(std::string_view text);

/// Reads and verifies one: hash, what it says of itself, and that its window holds the kernel alone. Errors:
/// submission-damaged, submission-incomplete, submission-window.
Parsed<Submission> read_submission(std::string_view text, const std::string& file);

/// Whether the card is the one of the data sheet: the name's last word or words, and as many SMs. "NVIDIA
/// H100 PCIe" is not an h100 of 132 SMs.
bool is_card(const Submission& submission, std::string_view hardware, const DataSheet& sheet);

/// Reads a file of rows, or all tables of a submission, as read_rows does.
Diagnostics read_measurements(std::string_view text, const std::string& file, const DataSheet& sheet,
                              MeasuredRows& rows);

}  // namespace plumbline
