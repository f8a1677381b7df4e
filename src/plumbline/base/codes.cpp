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
constexpr Severity kNote = Severity::note;

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
    {"contract-exists", kError, "contract", "window init found a window.toml; it writes over none.",
     "Edit the file that is there, or move it away first."},
    {"price-without-regex", kWarning, "contract", "A priced entry does not name the payer's launches.",
     "Add the payer's regex; until then nothing can be credited for it."},
    {"regex-slow", kWarning, "contract",
     "A pattern backtracks past the match limits on a plausible kernel name.",
     "Rewrite nested repetition such as (a+)+ as a+; anchor the pattern, or name the launches literally."},
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
    {"bench-syntax", kFinding, "bench", "bench.py does not parse as Python 3.",
     "Mend the named line; python3 -m py_compile shows the same error."},
    {"bench-unreadable", kFinding, "bench",
     "bench.py or the launch script exists and cannot be read: a directory, a dangling link, or not text in "
     "a known "
     "encoding.",
     "Make it a regular UTF-8 file."},
    {"prep-not-passed", kFinding, "bench",
     "The contract symmetrizes a tensor, and no measure_windows call of the bench passes a prep step.",
     "Write a module-level function that makes the tensor and pass it: prep=NAME."},
    {"prep-not-name", kFinding, "bench", "prep= is a lambda, an attribute or a call.",
     "Pass a plain name: the launch script must be able to import the same function."},
    {"prep-not-module-def", kFinding, "bench",
     "The name that prep= passes is no module-level def of bench.py.",
     "Define it at the top level of bench.py (not under if, try or with, not by assignment or import)."},
    {"prep-touches-kernel", kFinding, "bench",
     "The prep step uses the student's module: work could leave the timed window through it.",
     "Make the tensor with the reference's or torch's own functions."},
    {"ncu-syntax", kFinding, "bench", "The profiler's launch script does not parse as Python 3.",
     "Mend the named line; python3 -m py_compile shows the same error."},
    {"ncu-prep-not-called", kFinding, "bench",
     "The launch script does not import the bench's prep step from bench and call it.",
     "Add: from bench import NAME, and call it before the profiler starts."},
    {"ncu-no-profiler-start", kFinding, "bench", "The launch script never starts the profiler.",
     "Call torch.cuda.profiler.start() before the profiled calls, and run ncu with --profile-from-start "
     "off."},
    {"ncu-prep-after-start", kFinding, "bench",
     "The launch script calls prep on a line after the profiler's start: prep's launches would be in the "
     "table.",
     "Move the call above the start."},
    {"workloads-not-called", kFinding, "bench",
     "The bench calls neither measure_windows_workloads nor run_leaderboard_bench.",
     "Time at least three workloads with measure_windows_workloads([...])."},
    {"workloads-too-few", kFinding, "bench", "A literal list of fewer than three workloads is timed.",
     "Add shapes until there are three: one shape's ratio says little about the kernel."},
    {"bench-lone-cr", kWarning, "bench",
     "A carriage return alone ends a line: Python reads two lines where most viewers show one.",
     "Save the file with line feeds; look at what the hidden line does."},
    {"bench-coding", kWarning, "bench", "A coding cookie declares another encoding than UTF-8.",
     "Save the file as UTF-8 and remove the cookie: other tools read other names in it."},
    {"prep-reaches-kernel", kWarning, "bench",
     "The prep step arrives at the student's module through a helper, an alias, a module of the card, "
     "importlib or "
     "functools.partial.",
     "Make the tensor with the reference's or torch's own functions alone."},
    {"timed-extra-work", kWarning, "bench",
     "One side's timed call does work that is not the kernel's: a copy, a conversion, an allocation, a wait, "
     "output.",
     "Move it before the window, or declare it in window.toml where it belongs to the boundary."},
    {"timed-extra-work-both", kWarning, "bench",
     "Both sides' timed calls do the same work beside the kernels: the ratio is pulled towards 1.",
     "Move it out of both windows."},
    {"sides-same-function", kWarning, "bench", "Student and reference come down to the same function.",
     "Pass the reference's own function."},
    {"reference-from-student", kWarning, "bench",
     "The reference's timed call comes from the student's module.",
     "Keep the reference in a file that the student does not write."},
    {"sides-keywords-differ", kWarning, "bench",
     "The two sides are timed with different options: warm-ups, repeats, cache flushing.",
     "Pass the same options to both calls, or time both in one call."},
    {"inputs-constant", kWarning, "bench",
     "An input is zeros, ones, one value or uninitialised memory: kernels run faster on it, and errors hide.",
     "Use random values of the real distribution (torch.randn)."},
    {"inputs-mutated", kWarning, "bench",
     "The timed call changes its input in place, and all calls share one set of inputs.",
     "Give each call a fresh set (inputs=[...]), or let the call write to its own outputs."},
    {"workloads-few-known", kWarning, "bench",
     "A list that is no literal comes to fewer than three workloads, as far as the file tells.",
     "Add shapes until there are three."},
    {"workloads-uncounted", kWarning, "bench",
     "The workloads are built at run time; how many there are cannot be counted here.",
     "Nothing, if the eval JSON shows at least three; a literal list can be checked before the run."},
    {"ncu-no-synchronize", kWarning, "bench",
     "The launch script does not wait between prep and the profiler's start: prep's launches can fall into "
     "the region.",
     "Call torch.cuda.synchronize() before the start."},
    {"ncu-no-stop", kWarning, "bench", "The launch script never stops the profiler.",
     "Call torch.cuda.synchronize() and torch.cuda.profiler.stop() after the profiled calls."},
    {"ncu-start-in-loop", kWarning, "bench", "The profiler is started inside a loop.",
     "Start it once before the loop and stop it once after."},
    {"ncu-launch-cut", kWarning, "bench",
     "ncu is told to skip or to count launches: the table may hold a part of a call.",
     "Delimit whole calls with the profiler's start and stop instead."},
    {"ncu-from-start", kWarning, "bench",
     "ncu profiles from the program's start although the script starts the profiler itself.",
     "Run ncu with --profile-from-start off."},
    {"ncu-no-warmup", kWarning, "bench", "The profiled call was never called before.",
     "Call it a few times before the start: the first call compiles, allocates and touches memory."},
    {"ncu-prep-arguments", kWarning, "bench",
     "The launch script makes its inputs with other arguments than the bench.",
     "Profile a workload that the bench times, the campaign's by choice."},
    {"bench-too-long", kWarning, "bench",
     "A file of more than 50,000 syntax nodes was held to the rules that refuse and to no other.",
     "Split it: a bench of that length hides what it does."},

    // ---- table: kernel tables -----------------------------------------------------------------------
    {"table-schema", kError, "table",
     "The document does not say \"schema\": \"plumbline-table/1\", or names another version.",
     "Write tables with plumbline import -o; a newer schema needs a newer plumbline."},
    {"table-value", kError, "table", "A field of a kernel table is missing or cannot be.",
     "Mend the field at the named place (docs/schema/kernel-table.schema.json), or import the profiler's "
     "file again."},

    // ---- profile: importers -------------------------------------------------------------------------
    {"import-unknown-format", kError, "profile", "No importer knows the file.",
     "Export the report as text first; plumbline import --help lists the formats, --format names one."},
    {"import-ambiguous-format", kError, "profile", "More than one importer claims the file.",
     "Name the format with --format."},
    {"import-no-kernels", kError, "profile", "The file, or the asked region, holds no kernel launch.",
     "Profile with the GPU traced, and check the region; an empty table is never taken for 0 ns."},
    {"import-no-time", kError, "profile", "Every kernel launch has a duration of 0.",
     "Profile again with a tool that resolves nanoseconds; nothing can be judged by this file."},
    {"import-several-devices", kError, "profile", "The file holds launches of more than one GPU.",
     "Choose one with --device N; for ranks of one job --ranks takes the slowest. They are never summed."},
    {"import-several-processes", kError, "profile", "The file holds launches of more than one process.",
     "Choose one with --process N; for ranks of one job --ranks takes the slowest. They are never summed."},
    {"import-no-such-device", kError, "profile", "The asked device has no kernels in the file.",
     "Choose one of the named devices."},
    {"import-no-such-process", kError, "profile", "The asked process has no kernels in the file.",
     "Choose one of the named processes."},
    {"import-no-ranges", kError, "profile", "A range was asked for and the file records none.",
     "Profile with NVTX or annotations recorded, or leave out --range."},
    {"import-no-such-range", kError, "profile", "No launch lies in the asked range.",
     "Check the name; the message lists the ranges of the file where it knows them."},
    {"import-not-the-window", kError, "profile",
     "The launches are not a multiple of the asked calls: the region holds more, or less, than the window.",
     "Warm up (and autotune, and fill buffers) before the profiled region; then profile whole calls."},
    {"import-window-doubt", kWarning, "profile", "The launches do not look like equal calls of one window.",
     "Profile whole calls behind the warm-up, or say how many they are with --calls."},
    {"import-row-dropped", kWarning, "profile",
     "A row that ought to count could not be used; the table is marked lossy.",
     "Profile again; a credit refuses a table with missing launches."},
    {"import-lossy", kWarning, "profile",
     "The profiler says that it lost records or failed; the table is marked lossy.",
     "Profile a shorter region or with larger buffers; a credit refuses a lossy table."},
    {"gzip-broken", kError, "profile", "The packed file is damaged or cut.",
     "Copy it again, or write it again; nothing partial is taken."},
    {"csv-header", kError, "profile", "The header lacks columns that its kind of table has.",
     "Export the whole page with the profiler's own CSV writer."},
    {"csv-quote", kError, "profile", "A quoted field never closes.",
     "The file is cut or damaged at the named line: export it again."},
    {"csv-fields", kError, "profile",
     "A row does not fit its header: too many fields, too few, or a field that cannot be.",
     "Export again with the profiler's own CSV writer; a decimal comma must stand inside quotes."},
    {"number-locale", kError, "profile",
     "Numbers such as 1.234 may be thousands or fractions, and nothing in the file decides.",
     "Export again with LC_ALL=C (or --print-units base and another metric beside the duration)."},
    {"number-locale-conflict", kError, "profile",
     "The file writes some numbers with a decimal dot and others with a decimal comma.",
     "Do not join exports of different locales; import them one by one."},
    {"unit-unknown", kError, "profile",
     "A value that counts has no unit, or one that the importer does not know.",
     "Export with the units shown; report the unit if it is a new spelling."},
    {"ncu-no-table", kError, "profile", "The file holds Nsight Compute's messages and no CSV table.",
     "Run ncu with --csv and --page raw, and see why the program failed if the message says so."},
    {"ncu-permission", kError, "profile", "Nsight Compute was refused the GPU's performance counters.",
     "Run as root, with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0."},
    {"ncu-text-page", kError, "profile", "The file is Nsight Compute's text output, not CSV.",
     "Run ncu with --csv --page raw (or --import FILE.ncu-rep --csv)."},
    {"ncu-no-duration", kError, "profile", "No launch has a duration.",
     "Profile with --section SpeedOfLight or --metrics gpu__time_duration.sum."},
    {"ncu-duplicate-launch", kError, "profile", "One launch ID stands for two different launches.",
     "Import the joined files one by one."},

    {"sqlite-broken", kError, "profile", "A database cannot be opened or is damaged.",
     "Export it again (nsys export --type sqlite); a file copied while nsys writes it is cut."},
    {"nsys-schema", kError, "profile",
     "An SQLite file is no export of Nsight Systems, or of a version that is not known.",
     "Export with nsys export --type sqlite; schemas 2.x and 3.x are read."},
    {"nsys-console", kError, "profile",
     "The file is nsys stats' console table, whose columns are cut and rounded.",
     "Run nsys stats -r cuda_gpu_kern_sum --format csv."},
    {"nsys-other-report", kError, "profile",
     "The file holds other reports of nsys stats, or the kernel summary twice.",
     "Run nsys stats -r cuda_gpu_kern_sum --format csv, alone."},
    {"trace-broken", kError, "profile", "A trace is cut, or is not JSON.",
     "Export the trace again; nothing partial is taken. A cut trace ends where the process died."},

    // ---- eval: readings of a run --------------------------------------------------------------------
    {"eval-schema", kError, "eval", "The eval JSON lacks a part or holds one of another type.",
     "Write it with the measuring package, or lay it out as docs/pricing.md says: an object 'performance' "
     "with the readings."},
    {"eval-value", kError, "eval",
     "A time or a ratio is negative, a sample is null or 0, or it is no number at all.",
     "Look for a clamp or a subtraction in the bench: a reading that could not be taken is null, never 0 or "
     "less."},
    {"eval-not-finite", kError, "eval",
     "The eval holds NaN or Infinity, which Python writes and JSON does not have.",
     "Write null for a reading that could not be taken, and find out why it could not "
     "(json.dump(allow_nan=False))."},
    {"eval-workloads-too-few", kFinding, "eval",
     "performance.n_workloads is missing or under 3 and the card is no leaderboard card.",
     "Time at least three workloads with measure_windows_workloads: one shape can be tuned to."},
    {"eval-workload-count", kFinding, "eval",
     "performance.n_workloads is not the number of workloads listed.",
     "List every workload that was timed: a dropped one would flatter the mean."},
    {"eval-workloads-unlisted", kWarning, "eval",
     "performance.workloads is missing, so the ratio cannot be checked.",
     "Write each workload's readings of both sides into performance.workloads."},
    {"eval-reading-missing", kFinding, "eval", "A reading that the verdict needs is null, missing or 0.",
     "Find out why the bench could not take it; a geometric mean over a missing workload is no verdict."},
    {"eval-mixed-window", kFinding, "eval",
     "The two sides were read under different windows, timers, clocks or cache states.",
     "Read both sides in the same window and with the same settings, then compare."},
    {"eval-sample-count", kFinding, "eval", "The two sides of a workload have different numbers of samples.",
     "Drop a bad sample on both sides, and take as many of one as of the other (A B B A)."},
    {"eval-ratio-mismatch", kFinding, "eval", "A stated ratio is not what the readings beside it give.",
     "performance.ratio is the geometric mean of ref / student over the workloads; an arithmetic mean is "
     "not."},
    {"eval-campaign", kFinding, "eval",
     "The readings at the top level are not those of the one campaign workload.",
     "Mark one workload \"campaign\": true (the first is meant without) and repeat its readings at the top "
     "level."},
    {"eval-refused", kFinding, "eval",
     "The bench itself refuses a verdict: a rule was broken or a workload was not measured.",
     "Read its reason: a student that changes its inputs, its clock or its outputs has no ratio."},
    {"eval-throttled", kWarning, "eval", "The clock was throttled in blocks that were kept.",
     "Let the device cool or lower the power draw; compare again when both sides run at one clock."},
    {"eval-order", kWarning, "eval",
     "One side was read after the other, so a drifting clock favours one of them.",
     "Alternate the sides A B B A, as measure_windows_workloads does."},
    {"eval-aa-spread", kWarning, "eval",
     "The reference against itself differs by more than the claimed difference.",
     "Claim no difference here; take more samples or fix the clock (docs/measuring.md)."},

    // ---- pricing ------------------------------------------------------------------------------------
    {"no-table", kWarning, "pricing",
     "A side has priced entries and no kernel table with rows, so nothing can be matched.",
     "Profile that side (--student-table or --ref-table, any importable profiler file); the credit is "
     "unknown, not zero."},
    {"regex-unmatched", kWarning, "pricing", "An entry's regex finds no launch of the side that pays.",
     "Look at the kernel table: the work was fused, renamed or not launched. Mend the regex, or class the "
     "entry accept."},
    {"unreconciled", kWarning, "pricing",
     "A table's kernel time of one call and the window's reading differ by more than 20 %.",
     "Profile the same workload and count the calls right (import --calls); check the units of the reading."},
    {"table-lossy", kWarning, "pricing", "The profiler lost records, so shares of the table mean nothing.",
     "Profile again with larger buffers or fewer calls."},
    {"table-times", kWarning, "pricing", "A kernel's time is infinite or no number.",
     "Import the profiler's file again and read its account of rows."},
    {"launches-uneven", kWarning, "pricing",
     "A kernel's launches are not a multiple of the calls in the profiled region.",
     "Warm up before the profiled region, so that autotuning and first calls stay outside; check the number "
     "of calls."},
    {"name-truncated", kWarning, "pricing", "A regex matches a kernel whose name the profiler cut.",
     "Have the profiler print whole names (a wider column, CSV, or the report itself), and import again."},
    {"regex-limit", kWarning, "pricing", "A regex backtracks past the match limit on a kernel's name.",
     "Write it without nested repetition: a plain part of the kernel's name is best."},
    {"regex-in-arguments", kWarning, "pricing",
     "A regex is found only inside template arguments or parameters of a kernel's name.",
     "Anchor it to the kernel's own name (\\bflash_fwd_kernel\\b): a type that is passed is not the work "
     "that is done."},
    {"regex-other-side", kWarning, "pricing",
     "A regex also finds launches of the side that is not to do that work.",
     "Check the contract: both sides may do the work, and then nothing is to be credited."},

    {"calls-unknown", kWarning, "pricing", "A table does not say how many calls of the window it covers.",
     "Import it with --calls N, or give confirm the number with --calls."},
    {"kernels-overlap", kWarning, "pricing",
     "Launches of a priced side ran side by side, on several streams.",
     "Read the credited ratio as a bound, or time the call without the priced launches to see what they "
     "cost."},
    {"device-differs", kWarning, "pricing", "The readings and the kernel tables name different devices.",
     "Profile on the device that was timed: shares of another GPU's time price another window."},

    // ---- card: operator folders ---------------------------------------------------------------------
    {"card-missing", kError, "card", "CARD is neither a folder nor the name of one under operators/.",
     "Check the spelling, and that plumbline was started where operators/ is; a path to the card works "
     "anywhere."},
    {"run-missing", kError, "card", "The card has no such recorded run, or none at all.",
     "Look into runs/ of the card; name one with --run, or give --eval and the tables."},
    {"run-chosen", kNote, "card",
     "The card has several recorded runs and --run names none: the last by name was taken.",
     "Name the one that is meant with --run."},
    {"run-tables", kError, "card", "A recorded run has several files that could be one side's table.",
     "Keep one STUDENT and one REF file in the run's folder (student.table.json, ref.ncu.csv), or name it "
     "with --student-table or --ref-table."},

    // ---- layer: shapes and configurations -----------------------------------------------------------
    {"layer-field-not-positive", kError, "layer", "A dimension of a layer is zero or negative.",
     "Give every dimension a value of at least 1; leave window_size out for full attention."},
    {"layer-field-out-of-range", kError, "layer", "A dimension of a layer is larger than any real one.",
     "Check the value; the message names the limit."},
    {"layer-heads-not-divisible", kError, "layer",
     "The query heads cannot be shared out evenly over the KV heads.",
     "Make num_heads a multiple of num_kv_heads."},
    {"layer-field-missing", kError, "layer", "A layer lacks a field that every layer must have.",
     "Give hidden_dim, num_heads, num_kv_heads, head_dim and ffn_dim."},
    {"layer-field-not-integer", kError, "layer", "A dimension of a layer is a fraction or no number at all.",
     "Write a whole number."},
    {"layer-field-unknown", kError, "layer", "A layer has a field that nothing reads.",
     "Correct the spelling or remove the field; docs/shapes.md lists the fields."},
    {"layer-field-invalid", kError, "layer", "A field of a layer has a value that is none of its choices.",
     "Use one of the values that the message names."},
    {"layer-name-unknown", kError, "layer", "--layer names no built-in layer.",
     "Use a name in the message, or give the fields: hidden_dim=4096,num_heads=32,…"},
    {"layers-empty", kError, "layer", "A file of layers holds none.",
     "Check that it is the right file; a CSV needs a header and at least one row."},
    {"layers-header", kError, "layer", "The header of a CSV of layers cannot be understood.",
     "Name each column once after a field of a layer; docs/shapes.md lists them."},
    {"layers-row", kError, "layer", "A row of a CSV is broken; the other rows are unharmed.",
     "Mend the row: as many cells as the header has columns, quotes in pairs."},
    {"json-layer", kError, "layer", "A value stands where a layer's object is expected.",
     "Give an array of objects, one object a layer."},
    {"sweep-invalid", kError, "layer", "The range of a sweep cannot be understood.",
     "Write FIELD=FIRST:LAST:STEP, such as hidden_dim=3840:4352:32."},
    {"hf-no-model", kError, "layer", "The file is not a config.json of a model: it names no model_type.",
     "Give the config.json that lies beside the model's weights."},
    {"hf-model-type-unknown", kError, "layer", "The model_type of a config.json is not a known family.",
     "Use a family that the message names, or give the layers with --layer or --configs."},
    {"hf-not-dense", kError, "layer",
     "The model has mixture-of-experts, latent-attention, recurrent or hybrid layers.",
     "Only dense attention layers are costed; give the dense ones with --layer or --configs."},
    {"hf-field-missing", kError, "layer", "A config.json lacks a field without which nothing can be counted.",
     "Add the field; the message names it."},
    {"hf-field-invalid", kError, "layer", "A field of a config.json has a value that it cannot have.",
     "Correct the value; the message names what it must be."},
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
    {"specification-only", kWarning, "calibrate",
     "A GPU that nobody measured was asked for a measured prediction: its data sheet and generic constants "
     "answered.",
     "Measure rows on it (tools/measure_rows.py) and run plumbline hardware calibrate; until then compare "
     "shapes with "
     "care."},
    {"residuals-invalid", kError, "calibrate",
     "The residual file of a kernel source is damaged, cut short or not the one that the hardware file "
     "names.",
     "Copy the .bin file that was written together with the hardware file, or calibrate again."},
    {"rows-columns-unknown", kError, "calibrate",
     "A file of measured rows has no header that belongs to an operation, or a column in an unknown unit.",
     "Use the columns of measured/README.md; times stand in a column ms, us or ns."},
    {"row-malformed", kWarning, "calibrate",
     "A measured row holds a value that is no number or no size; it is not used.",
     "Correct the row, or remove it."},
    {"row-impossible", kWarning, "calibrate",
     "A measured row is faster than the GPU can be: the tensor peak, or HBM for what L2 cannot hold, or a "
     "launch.",
     "Measure again with cold buffers and check that the kernel did its work; the row is not used."},
    {"row-unit-slip", kWarning, "calibrate",
     "A measured row is about a thousand times too long or too short: another unit than its column says.",
     "Write the times in the unit that the column names; the row is not used."},
    {"rows-none-usable", kError, "calibrate", "No usable row is left, or too few for a fit.",
     "Read the reasons of the rejected rows; a fit needs at least 40 rows of an operation at 8 sites."},
    {"rows-seen", kError, "calibrate",
     "A file offered for validation is one that the hardware file was calibrated with: it would mark its own "
     "homework.",
     "Validate with rows that were kept back."},
    {"shape-unknown", kError, "calibrate",
     "An operation or a shape was asked for that the model does not have.",
     "The message lists what is understood."},

    // ---- artifact: reports and comparisons ----------------------------------------------------------
    {"artifact-unknown", kError, "artifact", "The file is not an artifact of arch report.",
     "Give a file that arch report --json-output wrote."},
    {"artifact-version", kError, "artifact", "The artifact's schema_version is newer than this program.",
     "Use a newer plumbline, or write the artifact again with this one."},
    {"artifact-malformed", kError, "artifact", "The artifact lacks what its schema promises.",
     "Write it again with arch report; docs/schema/arch-report.schema.json is its schema."},
    {"artifact-nothing-common", kError, "artifact", "Two artifacts have no layer on the same GPU in common.",
     "Compare reports of the same GPUs and layers."},

    // ---- timing: measuring and recording ------------------------------------------------------------
    {"record-unavailable", kError, "timing", "The recorder's library is not installed here.",
     "Build where CUPTI's headers are (the CUDA toolkit; set CUDA_ROOT), or name the library with "
     "PLUMBLINE_RECORDER; a profiler's file can be imported instead."},
    {"record-no-cuda", kError, "timing",
     "There is no CUDA driver on this machine, so nothing can be recorded.",
     "Run it on a machine with an NVIDIA GPU and its driver, or import a profiler's file."},
    {"record-command-failed", kError, "timing", "The command that was to be recorded failed or was ended.",
     "Run the command alone and mend it; its own messages stand above."},
    {"record-time-limit", kError, "timing", "The command ran past its time limit and was ended.",
     "Profile fewer calls, or give more time with --limit."},
    {"record-no-region", kError, "timing", "The profiled region never began, or no CUDA program ran.",
     "Call torch.cuda.profiler.start() and stop() around the calls, or name an NVTX range with --range."},
    {"record-failed", kError, "timing", "The recorder could not attach to CUPTI.",
     "The message says why: usually another profiler is attached, or libcupti is not on LD_LIBRARY_PATH."},
    {"record-lost", kError, "timing", "The profiler lost records, so the table would be too small.",
     "Record a shorter region; a table with missing launches is never written."},
    {"record-several-processes", kError, "timing", "More than one process launched kernels in the region.",
     "Record one rank; launches of several processes are never summed."},
    {"record-several-devices", kError, "timing", "The region holds launches of more than one GPU.",
     "Choose one with --device N; devices are never summed."},
    {"record-malformed", kError, "timing", "What the recorder wrote cannot be read.",
     "Check that command and recorder are of one version, and that the disk has room."},
    {"run-exists", kError, "timing", "The run's folder exists already; nothing was overwritten.",
     "Choose another --name, or remove the folder."},
    {"run-no-bench", kError, "timing", "The card has no eval/bench.py to run.",
     "Write one: docs/measuring.md shows it, and operators/attention_backward has one."},
    {"run-no-cuda", kError, "timing", "There is no CUDA driver on this machine, so nothing can be measured.",
     "Run it on a machine with an NVIDIA GPU and its driver. PLUMBLINE_TIMING_DEVICE=scripted runs a bench "
     "over NumPy "
     "on the fake device of the tests."},
    {"run-no-eval", kError, "timing", "The bench ended without an eval JSON.",
     "Call measure_windows_workloads(…) under if __name__ == \"__main__\"; plumbline run names the file in "
     "PLUMBLINE_EVAL_OUT."},
    {"run-refused", kWarning, "timing",
     "The harness refused a ratio: the student broke a rule, or a reading is missing.",
     "The message names the workload and the finding; docs/measuring.md explains each."},
    {"run-not-recorded", kWarning, "timing", "A side's kernel table could not be recorded.",
     "The run's readings stand; record the table by itself, or import a profiler's file."},
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
