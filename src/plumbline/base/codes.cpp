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
    {"toml-number-range", kWarning, "contract", "A number of a TOML file does not fit into 64 bits.",
     "Write a number that does; it was read as the nearest one, or as an infinity."},
    {"schema-version", kError, "contract", "schema_version is there and is not the integer 1.",
     "Write schema_version = 1, or use a plumbline that reads the newer contract."},
    {"wrong-type", kError, "contract",
     "A name list is no list of strings, a side is no table, asymmetry is no list of tables, or a text is no "
     "string.",
     "Give the key the type that the message names; plumbline window init writes an example."},
    {"asymmetry-key", kError, "contract",
     "An entry is keyed by none, or by several, of ref_input, student_input, ref_output and student_output.",
     "Give the entry exactly one of the four; a key with blank text keys nothing."},
    {"shape-type", kError, "contract", "A shape is no list of integers (a boolean is none).",
     "Write shape = [2, 16, 2048]."},
    {"contract-absent", kFinding, "contract",
     "The card has no window.toml, so its comparison is not declared.",
     "Run plumbline window init CARD and fill it in; a card without a reference is started with "
     "--no-reference."},
    {"list-empty", kFinding, "contract", "One of the four name lists is empty or missing.",
     "Name every tensor that the timed call receives (inputs) and makes (outputs), on both sides."},
    {"duplicate-entry", kFinding, "contract",
     "Two entries have the same kind and name; only the first one is read.", "Merge them into one."},
    {"name-not-listed", kFinding, "contract",
     "An entry names something that its own side's list does not hold.",
     "Add the name to the list, mend its spelling, or remove the entry."},
    {"unknown-class", kFinding, "contract", "class is none of symmetrize, price and accept.",
     "symmetrize: both sides receive it. price: the payer's launches are named. accept: knowingly paid."},
    {"output-symmetrized", kFinding, "contract",
     "An output has class symmetrize; only inputs can be handed to both sides.",
     "Price it (the payer makes it in its window) or accept it."},
    {"output-on-both-sides", kFinding, "contract",
     "A priced or accepted output is made by both sides, so nobody pays.",
     "Remove the entry, or take the name out of the list of the side that does not make it."},
    {"symmetrize-one-sided", kFinding, "contract", "A symmetrized input is received by one side alone.",
     "Add it to the other side's inputs and hand it over from a prep step, or choose another class."},
    {"input-on-both-sides", kFinding, "contract",
     "A priced or accepted input is received by both sides, so nobody pays.",
     "Use class symmetrize, or take the name out of the other side's inputs."},
    {"unknown-producer", kFinding, "contract", "produced_by is none of forward, prep, cache and other.",
     "Choose one of the four, or leave the key out."},
    {"missing-shape", kFinding, "contract",
     "A symmetrized tensor that a prep step makes has no shape (or an empty one).",
     "Declare shape = [...]: the prep report is held to it."},
    {"missing-dtype", kFinding, "contract", "A symmetrized tensor that a prep step makes has no dtype.",
     "Declare dtype = \"bf16\" (or another): the prep report is held to it."},
    {"stray-shape-dtype", kFinding, "contract",
     "An entry that no prep step makes carries a shape or a dtype.",
     "Remove them: nothing would hold the tensor to them."},
    {"regex-wrong-side", kFinding, "contract", "An entry carries the regex of the side that does not pay.",
     "Name the payer's launches: student_kernel_regex for ref_input and student_output, else "
     "ref_kernel_regex."},
    {"regex-not-priced", kFinding, "contract", "An entry that is not class price carries the payer's regex.",
     "Remove the regex, or make the class price."},
    {"regex-invalid", kFinding, "contract",
     "The pattern is no regular expression (PCRE2), or it exceeds the match limits.",
     "Mend the pattern at the named character; escape ( ) [ { + * ? . where they are meant literally."},
    {"undeclared-ref-input", kFinding, "contract",
     "The reference alone receives an input and no entry says so.",
     "Declare it: [[asymmetry]] ref_input = \"NAME\" with a class, or name it in a student_input's "
     "derived_from."},
    {"undeclared-student-input", kFinding, "contract",
     "The student alone receives an input and no entry says so.",
     "Declare it: [[asymmetry]] student_input = \"NAME\" with a class, or name it in a ref_input's "
     "derived_from."},
    {"undeclared-ref-output", kFinding, "contract",
     "The reference alone makes an output and no entry says so.",
     "Declare it: [[asymmetry]] ref_output = \"NAME\" with class price or accept."},
    {"undeclared-student-output", kFinding, "contract",
     "The student alone makes an output and no entry says so.",
     "Declare it: [[asymmetry]] student_output = \"NAME\" with class price or accept."},
    {"price-without-regex", kWarning, "contract", "A priced entry does not name the payer's launches.",
     "Add the payer's regex; until then nothing can be credited for it."},
    {"unknown-key", kWarning, "contract", "window.toml has a key that no rule reads.",
     "Mend its spelling, or remove it; free remarks belong in note."},

    // ---- prep: the prep report ----------------------------------------------------------------------
    {"prep-unreported", kFinding, "prep", "The eval JSON does not say what the prep step made.",
     "Mend the bench: performance.prep.outputs names every tensor with its shape and dtype."},
    {"prep-mutated", kFinding, "prep", "The timed call changed a tensor that prep made.",
     "Treat prep's tensors as read-only in the timed call, or copy them inside the window."},
    {"prep-missing", kFinding, "prep", "Prep did not make a tensor that the contract symmetrizes.",
     "Return it from prep under the declared name."},
    {"prep-shape", kFinding, "prep", "Prep made a tensor with another shape than the contract declares.",
     "Mend prep, or the shape in window.toml (workload_shapes for workloads that differ)."},
    {"prep-dtype", kFinding, "prep", "Prep made a tensor with another dtype than the contract declares.",
     "Mend prep, or the dtype in window.toml."},
    {"prep-undeclared", kFinding, "prep",
     "Prep made a tensor that the contract does not symmetrize: work left the window.",
     "Declare it in window.toml, or do that work in the timed call."},

    // ---- bench: static checks of bench.py and ncu_run.py --------------------------------------------

    // ---- table: kernel tables -----------------------------------------------------------------------

    // ---- profile: importers -------------------------------------------------------------------------

    // ---- eval: readings of a run --------------------------------------------------------------------

    // ---- pricing ------------------------------------------------------------------------------------

    // ---- card: operator folders ---------------------------------------------------------------------
    {"card-missing", kError, "card", "CARD is neither a folder nor the name of one under operators/.",
     "Check the spelling, and that plumbline was started where operators/ is; a path to the card works "
     "anywhere."},

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
