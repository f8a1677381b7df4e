// SPDX-License-Identifier: Apache-2.0
// Longer than other files on purpose: one table, one place to look a code up.
#include "plumbline/base/codes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace plumbline {
namespace {

constexpr Severity kError = Severity::error;
constexpr Severity kFinding = Severity::finding;
constexpr Severity kWarning = Severity::warning;

// {code, severity, area, cause, fix}. Codes are never reused; a new one goes to the end of its area.
constexpr auto kCodes = std::to_array<CodeInfo>({
    // ---- files: reading and writing -----------------------------------------------------------------
    {"file-missing", kError, "files", "There is no file of that name.",
     "Check the spelling and the directory; relative paths start where plumbline was started."},
    {"file-unreadable", kError, "files", "The file exists and could not be read.",
     "Check its permissions (ls -l) and that the disk is healthy."},
    {"file-not-regular", kError, "files", "The name belongs to a directory, a device or a pipe.",
     "Name a regular file, or - for standard input."},
    {"file-too-large", kError, "files", "The file is larger than this kind of file may be.",
     "Check that it is the right file; the message names the limit."},
    {"file-not-utf8", kError, "files", "A text file holds bytes that are not UTF-8.",
     "Convert it (iconv -f LATIN1 -t UTF-8); the message names the first bad byte."},
    {"file-unwritable", kError, "files", "The output could not be written; nothing was changed.",
     "Check that the directory exists, is writable and has room."},
    {"usage", kError, "files", "The command line cannot be understood.",
     "Run the command with --help: it shows the options and an example."},

    // ---- json ---------------------------------------------------------------------------------------
    {"json-syntax", kError, "json", "The text is not JSON (RFC 8259).",
     "Mend the text at the named place; NaN, comments and trailing commas are not JSON."},
    {"json-too-deep", kError, "json", "Arrays or objects are nested more than 200 deep.",
     "No file of this tool is that deep: check that it is the right file."},

    // ---- contract: window.toml ----------------------------------------------------------------------
    {"toml-syntax", kError, "contract", "The text is not TOML 1.0.", "Mend the text at the named place."},

    // ---- prep: the prep report ----------------------------------------------------------------------

    // ---- bench: static checks of bench.py and ncu_run.py --------------------------------------------

    // ---- table: kernel tables -----------------------------------------------------------------------

    // ---- profile: importers -------------------------------------------------------------------------

    // ---- eval: readings of a run --------------------------------------------------------------------

    // ---- pricing ------------------------------------------------------------------------------------

    // ---- card: operator folders ---------------------------------------------------------------------

    // ---- layer: shapes and configurations -----------------------------------------------------------
    {"layer-field-not-positive", kError, "layer", "A dimension of a layer is zero or negative.",
     "Give every dimension a value of at least 1; leave window_size out for full attention."},
    {"layer-field-out-of-range", kError, "layer", "A dimension of a layer is larger than any real one.",
     "Check the value; the message names the limit."},
    {"layer-heads-not-divisible", kError, "layer",
     "The query heads cannot be shared out evenly over the KV heads.",
     "Make num_heads a multiple of num_kv_heads."},
    {"proxy-no-decode", kError, "layer", "The proxy model was asked for a decode step; it has only prefill.",
     "Use --model measured with hardware that was measured, or predict the prefill phase."},
    {"model-not-available", kError, "layer", "The hardware file has nothing for the chosen latency model.",
     "Choose the other --model or other hardware; plumbline hardware list shows what each file holds."},

    // ---- hardware: GPU descriptions -----------------------------------------------------------------
    {"hardware-unknown", kError, "hardware", "No hardware file of that name was found.",
     "Use one of the names in the message, or the path of a hardware file."},
    {"hardware-field-missing", kError, "hardware", "A hardware file lacks a field that it must have.",
     "Add the field; the files under hardware/ are examples."},
    {"hardware-field-unknown", kError, "hardware", "A hardware file has a field that nothing reads.",
     "Correct the spelling or remove the field."},
    {"hardware-field-invalid", kError, "hardware", "A field of a hardware file has a value it cannot have.",
     "Give it a value of the kind that the message names; units are in the field's name."},
    {"kernel-source-unknown", kError, "hardware", "The hardware file has no kernel source of that name.",
     "plumbline hardware show NAME lists its kernel sources."},

    // ---- calibrate: measured rows and fits ----------------------------------------------------------

    // ---- artifact: reports and comparisons ----------------------------------------------------------

    // ---- timing: measuring and recording ------------------------------------------------------------
});

static_assert(std::all_of(kCodes.begin(), kCodes.end(),
                          [](const CodeInfo& c) { return !c.cause.empty() && !c.fix.empty(); }),
              "every code says its cause and its fix");

}  // namespace

std::span<const CodeInfo> all_codes() { return kCodes; }

const CodeInfo* find_code(std::string_view code) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const CodeInfo*> map;
    for (const CodeInfo& info : kCodes) map.emplace(info.code, &info);
    return map;
  }();
  const auto it = index.find(code);
  return it == index.end() ? nullptr : it->second;
}

std::string codes_markdown() {
  std::string out =
      "# Diagnostics\n\nGenerated by `plumbline explain --all --md` from the table in "
      "`src/plumbline/base/codes.cpp`; do not "
      "edit.\nA code is stable: it is never renamed and never given another meaning.\nAn *error* is "
      "malformed or "
      "unreadable input (exit 2); a *finding* refuses the run (exit 13) or fails a held\nreport (exit 1); a "
      "*warning* or "
      "a *note* never changes an exit status.\n";
  std::string_view area;
  for (const CodeInfo& info : kCodes) {
    if (info.area != area) {
      area = info.area;
      out.append("\n## ").append(area).append(
          "\n\n| code | severity | when | what to do |\n|---|---|---|---|\n");
    }
    out.append("| `").append(info.code).append("` | ").append(to_string(info.severity)).append(" | ");
    out.append(info.cause).append(" | ").append(info.fix).append(" |\n");
  }
  return out;
}

}  // namespace plumbline
