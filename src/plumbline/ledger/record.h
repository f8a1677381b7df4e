// SPDX-License-Identifier: Apache-2.0
// A run as the ledger holds it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"

namespace plumbline::ledger {

/// What a run came to. A loop acts on it: see docs/ledger.md.
inline constexpr auto kOutcomes =
    std::to_array<std::string_view>({"pass", "fail-correctness", "fail-prep", "fail-gate", "within-noise",
                                     "tampering", "bench-defect", "refused", "infrastructure", "withdrawn"});

/// True for the outcomes whose readings may be used: pass, fail-gate, within-noise.
bool is_reading(std::string_view outcome);
/// True for the outcomes that may carry a number at all: those, and fail-prep.
bool may_carry_numbers(std::string_view outcome);

/// What two runs must share to be compared.
struct Series {
  std::string gpu;
  std::string driver;
  std::string timed;     ///< the timing window: "pipelined" or "per_call"
  std::string harness;   ///< name and version
  std::string boundary;  ///< SHA-256 of what each side receives and makes

  bool operator==(const Series&) const = default;
  bool operator<(const Series& other) const;
};

/// What differs between two series, in words: "driver: A and B".
std::vector<std::string> apart(const Series& a, const Series& b);

/// One workload of a run. Milliseconds.
struct Reading {
  std::string workload;
  std::string shape;  ///< one line of JSON, "" where there is none
  std::optional<double> student_ms;
  std::optional<double> ref_ms;
  std::optional<double> ratio;
  std::optional<double> noise;  ///< relative, of the samples
};

/// The files that ran. Hashes are lower-case hexadecimal SHA-256.
struct Code {
  std::map<std::string, std::string> files;  ///< path relative to the card → hash
  std::string contract;                      ///< of window.toml; "" where there is none
  std::string bench;                         ///< of eval/bench.py
  std::string student;                       ///< of the student's files
  std::string reference;                     ///< of reference.py

  std::string manifest() const;  ///< one line of JSON
};

/// Fills contract, bench, student and reference from `files`: the student's are all that are not the
/// contract, not the reference's and not under eval/.
void name_code(Code& code);

/// A run.
struct RunRecord {
  std::string ident;  ///< 32 hexadecimal digits: 12 of the time, 20 at random
  std::string card;
  std::string made_at;  ///< "2026-12-03T01:02:03Z"
  std::string name;     ///< of its folder under runs/; "" without one
  std::string outcome;
  Series series;
  Code code;
  std::optional<double> gate;
  std::optional<double> raw_ratio, raw_low, raw_high;
  std::optional<double> credited_ratio, credited_low, credited_high;
  std::optional<double> student_ms, ref_ms;  ///< of the campaign workload
  std::optional<double> prep_ms;
  std::optional<double> sm_mhz;
  std::string corrects;  ///< ident of the run that this one takes the place of; "" for none
  std::string note;
  std::vector<Reading> readings;
  std::map<std::string, std::string> parts;  ///< kind (kParts) → hash
};

/// The large documents of one run.
inline constexpr auto kParts =
    std::to_array<std::string_view>({"eval", "student_table", "ref_table", "verdict", "machine"});

/// The SHA-256 (32 bytes) of everything in the record.
std::string digest(const RunRecord& record);

/// The record as the document of export and `show --json`.
Json to_json(const RunRecord& record);

/// The record again. `where` names the line in diagnostics. Errors: ledger-line.
Parsed<RunRecord> record_from_json(const Json& json, const Location& where);

/// A new ident: `milliseconds` since 1970 and `random` make it unique and put idents in the order of time.
std::string make_ident(std::uint64_t milliseconds, std::string_view random);

}  // namespace plumbline::ledger
