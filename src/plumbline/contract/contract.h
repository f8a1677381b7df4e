// SPDX-License-Identifier: Apache-2.0
// WindowContract: what window.toml declares of both windows. A plain value; parse.h makes it, check.h judges
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumbline/base/text.h"

namespace plumbline {

/// A trimmed text of the file and where it stands (line 0: the key is absent). `text` is empty when absent or
/// blank.
struct Field {
  std::string text;
  TextPosition at{0, 0};

  bool empty() const { return text.empty(); }  ///< absent or blank
};

/// What one side's timed call receives and makes.
struct Side {
  Field window;                ///< free text
  std::vector<Field> inputs;   ///< every tensor the timed call receives; no blanks, no repeats, file order
  std::vector<Field> outputs;  ///< every tensor it produces
  TextPosition at{0, 0};       ///< the side's table
  TextPosition inputs_at{0, 0};
  TextPosition outputs_at{0, 0};
};

/// What an [[asymmetry]] entry is keyed by: whose list holds the name that the other side lacks.
enum class EntryKind { ref_input, student_input, ref_output, student_output };

/// Whose window holds the work, so whose kernel table can price it.
enum class Payer { student, reference };

/// How a difference is treated: both sides receive it, the payer's launches are priced, or it is knowingly
/// paid.
enum class EntryClass { symmetrize, price, accept };
inline constexpr std::array<std::string_view, 3> kEntryClasses{"symmetrize", "price", "accept"};

/// What makes the tensor.
enum class Producer { forward, prep, cache, other };
inline constexpr std::array<std::string_view, 4> kProducers{"forward", "prep", "cache", "other"};

/// "ref_input", "student_input", "ref_output" or "student_output".
std::string_view to_string(EntryKind kind);
/// "student" or "reference".
std::string_view to_string(Payer payer);

/// ref_input and student_output: the student. student_input and ref_output: the reference.
Payer payer_of(EntryKind kind);
/// True for the two kinds of outputs.
bool is_output(EntryKind kind);

/// One size list that a prep step must show for one workload (see Asymmetry::workload_shapes).
struct WorkloadShape {
  std::string workload;
  std::vector<std::int64_t> shape;
};

/// One [[asymmetry]] entry, as written: nothing here is checked yet.
struct Asymmetry {
  EntryKind kind = EntryKind::ref_input;
  Field name;
  Field entry_class;                  ///< as the file says it
  std::optional<EntryClass> treated;  ///< of entry_class; none where it is absent or another word
  Field produced_by;                  ///< as the file says it
  std::optional<Producer> producer;   ///< of produced_by; likewise
  Field derived_from;  ///< names of the other side's raw inputs, commas and/or blanks between them
  Field ref_kernel_regex;
  Field student_kernel_regex;
  Field note;
  Field dtype;
  std::vector<std::int64_t> shape;  ///< empty: none is declared
  TextPosition shape_at{0, 0};
  std::vector<WorkloadShape> workload_shapes;  ///< shapes of named workloads that differ from `shape`
  TextPosition at{0, 0};                       ///< the entry's table

  /// The regex of the side that pays, and the other one.
  const Field& payer_regex() const;
  const Field& other_regex() const;  ///< the side's that does not pay
};

/// A window.toml that parsed. Undeclared and wrong contracts are values too: check_contract() says so.
struct WindowContract {
  std::string file;  ///< the name used in diagnostics
  Side reference;
  Side student;
  std::vector<Asymmetry> asymmetries;  ///< file order

  /// All four lists are non-empty.
  bool declared() const;
};

/// An entry of class price: who pays, and the launches that do only that work.
struct PricedEntry {
  EntryKind kind = EntryKind::ref_input;
  std::string name;
  Payer payer = Payer::student;
  std::string regex;      ///< PCRE2, of the payer's kernel names; empty in unpriced_entries()
  TextPosition at{0, 0};  ///< the regex, or the entry where it has none
};

/// The price entries with a regex of the side that pays, in file order (duplicates too, checked or not).
std::vector<PricedEntry> priced_entries(const WindowContract& contract);

/// The price entries without one: nothing can be credited for them. File order.
std::vector<PricedEntry> unpriced_entries(const WindowContract& contract);

/// Class symmetrize and produced by anything but a cache: a prep step makes the tensor, so shape and dtype
/// are declared and the report is held to them.
bool is_prep_checked(const Asymmetry& entry);

/// The prep-checked entries in file order; the pointers live as long as `contract`.
std::vector<const Asymmetry*> prep_entries(const WindowContract& contract);
std::vector<const Asymmetry*> prep_entries(WindowContract&&) = delete;  ///< they would dangle

/// Who has what. Each list is in the order of the file; `both` in the reference's order.
struct BoundarySets {
  std::vector<std::string> both_inputs;
  std::vector<std::string> ref_only_inputs;
  std::vector<std::string> student_only_inputs;
  std::vector<std::string> both_outputs;
  std::vector<std::string> ref_only_outputs;
  std::vector<std::string> student_only_outputs;
};

/// The boundary sets of a contract, declared or not.
BoundarySets boundary_sets(const WindowContract& contract);

/// The student-only inputs that a ref_input entry's derived_from explains, and the reference-only ones that a
/// student_input entry's explains. A later duplicate of an entry explains nothing.
struct ExplainedInputs {
  std::vector<std::string> student;
  std::vector<std::string> reference;
};
/// Names in derived_from order, repeats dropped; they need not be listed anywhere.
ExplainedInputs explained_inputs(const WindowContract& contract);

}  // namespace plumbline
