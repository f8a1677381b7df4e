// SPDX-License-Identifier: Apache-2.0
// Chrome traces of the PyTorch profiler (Kineto), plain or gzip, streamed through RapidJSON. A little over
// the usual length: one format, one file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/json_stream.h"

namespace plumbline::profile {
namespace {

constexpr int kMaxDepth = 200;

/// Microseconds as text to nanoseconds, exactly: a double loses a quarter of a microsecond of an absolute
/// time. Digits beyond the nanosecond round to the nearest. None when it is no number or does not fit.
std::optional<std::int64_t> nanoseconds(std::string_view text) {
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) ++at;
  std::int64_t value = 0;
  int exponent = 3;  // of ten, still to be applied to `value`
  bool point = false;
  bool any = false;
  bool full = false;  // no more digits fit: they only move the exponent
  int rest = 0;       // the first digit that did not fit
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (!full && value <= (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
        value = value * 10 + (c - '0');
        exponent -= point ? 1 : 0;
      } else {
        if (!full) rest = c - '0';
        full = true;
        exponent += point ? 0 : 1;
      }
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    std::string_view tail = text.substr(at + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    const auto power = parse_int(tail);
    if (!power || *power > 1000 || *power < -1000) return std::nullopt;
    exponent += static_cast<int>(*power);
  }
  if (exponent == 0 && rest >= 5) ++value;
  for (; exponent > 0 && value != 0; --exponent) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
  }
  for (; exponent < 0 && value != 0; ++exponent) value = exponent == -1 ? (value + 5) / 10 : value / 10;
  return negative ? -value : value;
}

enum class Kind { other, kernel, memcpy, memset, runtime, annotation, gpu_annotation, counters };

Kind kind_of(std::string_view category) {
  struct Known {
    std::string_view name;
    Kind kind;
  };
  static constexpr auto kKnown = std::to_array<Known>({
      {"kernel", Kind::kernel},
      {"Kernel", Kind::kernel},
      {"gpu_memcpy", Kind::memcpy},
      {"Memcpy", Kind::memcpy},
      {"gpu_memset", Kind::memset},
      {"Memset", Kind::memset},
      {"cuda_runtime", Kind::runtime},
      {"Runtime", Kind::runtime},
      {"cuda_driver", Kind::runtime},
      {"hip_runtime", Kind::runtime},
      {"user_annotation", Kind::annotation},
      {"gpu_user_annotation", Kind::gpu_annotation},
      {"cuda_profiler_range", Kind::counters},
  });
  for (const Known& known : kKnown) {
    if (known.name == category) return known.kind;
  }
  return Kind::other;
}

/// The fields of one event that count.
struct Event {
  Kind kind = Kind::other;
  bool complete = false;  ///< ph "X"
  std::string name;
  std::string ts;
  std::string dur;
  std::optional<std::int64_t> pid, tid, device, stream, correlation;

  void clear() {
    kind = Kind::other;
    complete = false;
    name.clear();
    ts.clear();
    dur.clear();
    pid = tid = device = stream = correlation = std::nullopt;
  }
};

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A kernel that waits until it is known which range launched it.
struct Waiting {
  std::int64_t start_ns;
  std::int64_t duration_ns;
  std::int64_t device;
  std::int64_t stream;
  std::int64_t correlation;
  std::uint32_t name;
};

/// "ProfilerStep#" asks for every step; anything else for that name.
bool is_asked(std::string_view name, std::string_view asked) {
  if (name == asked) return true;
  return asked.ends_with('#') && name.size() > asked.size() && name.starts_with(asked) &&
         name.find_first_not_of("0123456789", asked.size()) == std::string_view::npos;
}

/// Takes complete events; knows nothing of JSON.
class EventSink {
 public:
  EventSink(const std::string& path, const ImportOptions& options)
      : path_(path),
        options_(options),
        collector_("torch-trace", path, options),
        ranged_(!options.range.empty()) {
    collector_.set_sees_copies(true);
  }

  Collector& collector() { return collector_; }
  void device_name(std::int64_t id, const std::string& name) {
    collector_.set_device_name(id, printable(name));
  }

  void take(Event& event, std::uint64_t offset) {
    RowAccount& account = collector_.account();
    ++account.rows;
    switch (event.kind) {
      case Kind::kernel:
        return take_kernel(event, offset);
      case Kind::memcpy:
      case Kind::memset:
        take_copy(event);
        break;
      case Kind::runtime:
        if (ranged_ && event.correlation) {
          if (const auto at = nanoseconds(event.ts)) calls_.emplace_back(*event.correlation, *at);
        }
        break;
      case Kind::annotation:
      case Kind::gpu_annotation:
        take_annotation(event);
        break;
      case Kind::counters:
        ++counters_;
        break;
      case Kind::other:
        break;
    }
    ++account.ignored;
  }

  Parsed<KernelTable> finish() {
    if (ranged_ && !place_waiting()) return {std::nullopt, std::move(diagnostics_)};
    if (kernels_ == 0) {
      return failed<KernelTable>(diagnose(
          "import-no-kernels",
          counters_ > 0
              ? fmt::format("the trace holds CUPTI counters ({} cuda_profiler_range events) and no kernels",
                            counters_)
              : "the trace holds no kernel events: was ProfilerActivity.CUDA on, and a GPU used?",
          {path_}));
    }
    if (whole_micros_ == kernels_) {
      collector_.note("durations are whole microseconds (an old PyTorch): each launch may be off by one");
      if (zero_ > 0)
        collector_.note(fmt::format("{} launches of less than a microsecond are recorded as 0", zero_));
    }
    return collector_.finish();
  }

 private:
  void drop(const Event& event, std::uint64_t offset, const char* why) {
    collector_.drop(
        diagnose("import-row-dropped",
                 fmt::format("kernel {} at byte {}: {}", printable(cut_middle(event.name, 60)), offset, why),
                 {path_}));
  }

  void take_kernel(Event& event, std::uint64_t offset) {
    ++kernels_;
    const auto start = nanoseconds(event.ts);
    const auto duration = nanoseconds(event.dur);
    if (!event.complete || !start || !duration) return drop(event, offset, "no start or no duration");
    if (*duration < 0) return drop(event, offset, "its duration is negative");
    if (*duration > 8'640'000'000'000'000) return drop(event, offset, "its duration is over 100 days");
    if (event.name.empty()) return drop(event, offset, "it has no name");
    if (event.dur.find('.') == std::string::npos) ++whole_micros_;
    if (*duration == 0) ++zero_;
    const std::int64_t device = event.device ? *event.device : event.pid.value_or(kUnknownId);
    const std::int64_t stream = event.stream ? *event.stream : event.tid.value_or(kUnknownId);
    const std::uint32_t name = collector_.name_id(event.name);
    const Waiting launch{*start, *duration, device, stream, event.correlation.value_or(kUnknownId), name};
    if (ranged_) {
      waiting_.push_back(launch);
    } else {
      keep(launch);
    }
  }

  void keep(const Waiting& w) {
    Launch launch;
    launch.name = w.name;
    launch.time_ps = w.duration_ns * 1000;
    if (w.stream != kUnknownId) launch.stream = w.stream;
    Group& group = collector_.group(kUnknownId, w.device);
    if (!collector_.add_timed(group, launch, w.start_ns, w.duration_ns)) {
      return collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_}));
    }
    ++group.kept_rows;
    ++collector_.account().kept;
  }

  void take_copy(const Event& event) {
    const auto duration = nanoseconds(event.dur);
    if (!event.complete || !duration || *duration < 0 || *duration > 8'640'000'000'000'000) return;
    if (ranged_) return;
    Group& group =
        collector_.group(kUnknownId, event.device ? *event.device : event.pid.value_or(kUnknownId));
    CopySums& sums = event.kind == Kind::memcpy ? group.memcpy : group.memset;
    ++sums.count;
    if (__builtin_add_overflow(sums.time_ps, *duration * 1000, &sums.time_ps)) sums.time_ps = 0;
  }

  void take_annotation(const Event& event) {
    if (!ranged_) return;
    const auto start = nanoseconds(event.ts);
    const auto duration = nanoseconds(event.dur);
    const bool gpu = event.kind == Kind::gpu_annotation;
    if (!event.complete || !start || !duration || *duration < 0) return;
    if (annotation_names_.size() < 200) annotation_names_.insert(event.name);
    if (!is_asked(event.name, options_.range)) return;
    (gpu ? gpu_ranges_ : cpu_ranges_).push_back({*start, *start + *duration});
  }

  /// Kernels belong to the range in which they were launched; on the GPU they run later. Only where the trace
  /// has no launches does the GPU's own annotation decide.
  bool place_waiting() {
    const bool by_launch = !cpu_ranges_.empty() && !calls_.empty();
    std::vector<Interval>& ranges = by_launch ? cpu_ranges_ : gpu_ranges_;
    if (ranges.empty()) {
      std::string known;
      for (const std::string& name : annotation_names_) {
        if (known.size() < 300) known += (known.empty() ? "" : ", ") + printable(name);
      }
      diagnostics_.push_back(annotation_names_.empty()
                                 ? diagnose("import-no-ranges", "the trace has no annotations", {path_})
                                 : diagnose("import-no-such-range",
                                            fmt::format("no annotation \"{}\"; the trace has {}",
                                                        printable(options_.range), known),
                                            {path_}));
      return false;
    }
    std::sort(ranges.begin(), ranges.end(), [](const Interval& a, const Interval& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::sort(calls_.begin(), calls_.end());
    std::vector<std::int64_t> reach;  // the furthest end among the ranges so far: nested ones of one name
    for (const Interval& range : ranges)
      reach.push_back(reach.empty() ? range.end : std::max(reach.back(), range.end));
    std::vector<char> entered(ranges.size(), 0);  // ranges without a kernel are no calls
    const auto inside = [&](std::int64_t at) {
      const auto behind =
          std::upper_bound(ranges.begin(), ranges.end(), at,
                           [](std::int64_t t, const Interval& range) { return t < range.begin; });
      for (auto i = static_cast<std::size_t>(behind - ranges.begin()); i > 0 && at < reach[i - 1]; --i) {
        if (at >= ranges[i - 1].end) continue;
        entered[i - 1] = 1;
        return true;
      }
      return false;
    };
    std::int64_t unplaced = 0;
    for (const Waiting& w : waiting_) {
      std::optional<std::int64_t> at = w.start_ns;
      if (by_launch) {
        const auto call = std::lower_bound(
            calls_.begin(), calls_.end(), std::pair(w.correlation, std::numeric_limits<std::int64_t>::min()));
        at =
            call != calls_.end() && call->first == w.correlation ? std::optional(call->second) : std::nullopt;
        unplaced += at ? 0 : 1;
      }
      if (at && inside(*at)) {
        keep(w);
      } else {
        ++collector_.account().ignored;
      }
    }
    if (unplaced > 0) {
      collector_.note(fmt::format(
          "{} kernels have no launch in the trace (queued before it began) and lie in no range", unplaced));
    }
    collector_.set_region("annotation:" + options_.range);
    collector_.set_range_instances(std::count(entered.begin(), entered.end(), 1));
    return true;
  }

  const std::string& path_;
  const ImportOptions& options_;
  Collector collector_;
  Diagnostics diagnostics_;
  bool ranged_;
  std::int64_t kernels_ = 0;
  std::int64_t whole_micros_ = 0;
  std::int64_t zero_ = 0;
  std::int64_t counters_ = 0;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<std::int64_t, std::int64_t>> calls_;  ///< correlation, time of the launch
  std::vector<Interval> cpu_ranges_;
  std::vector<Interval> gpu_ranges_;
  std::set<std::string> annotation_names_;
};

/// RapidJSON's events to trace events. Depths: 1 is the document, then its list, an event, its args.
class TraceHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TraceHandler> {
 public:
  TraceHandler(EventSink& sink, JsonBuffer& buffer, JsonStream& stream)
      : sink_(sink), buffer_(buffer), stream_(stream) {}

  bool too_deep() const { return too_deep_; }
  bool saw_events() const { return saw_events_; }

  bool StartObject() {
    if (!enter()) return false;
    if (depth_ == event_depth_ && list_ == List::events) {
      event_.clear();
      event_offset_ = stream_.Tell();
    } else if (depth_ == 3 && list_ == List::devices) {
      device_id_.reset();
      device_name_.clear();
    }
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    if (depth_ == event_depth_ && list_ == List::events) {
      sink_.take(event_, event_offset_);
      buffer_.mark(stream_.Tell());
    } else if (depth_ == 3 && list_ == List::devices && device_id_) {
      sink_.device_name(*device_id_, device_name_);
    } else if (depth_ == event_depth_ + 1) {
      in_args_ = false;
    }
    --depth_;
    return true;
  }

  bool StartArray() {
    if (!enter()) return false;
    if (depth_ == 1) {  // a bare list of events
      list_ = List::events;
      event_depth_ = 2;
      saw_events_ = true;
    } else if (depth_ == 2 && top_ == Top::events) {
      list_ = List::events;
      event_depth_ = 3;
      saw_events_ = true;
    } else if (depth_ == 2 && top_ == Top::devices) {
      list_ = List::devices;
    } else if (depth_ == 2 && top_ == Top::complaints) {
      list_ = List::complaints;
    }
    return true;
  }

  bool EndArray(rapidjson::SizeType) {
    if (depth_ <= 2) {
      list_ = List::none;
      top_ = Top::other;
    }
    --depth_;
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view key(text, size);
    field_ = Field::other;
    if (list_ == List::events) {
      if (depth_ == event_depth_) {
        field_ = event_field(key);
        in_args_ = field_ == Field::args;
      } else if (depth_ == event_depth_ + 1 && in_args_) {
        field_ = args_field(key);
      }
    } else if (list_ == List::devices && depth_ == 3) {
      field_ = key == "id" ? Field::device_id : key == "name" ? Field::device_name : Field::other;
    } else if (depth_ == 1) {
      top_ = key == "traceEvents"                 ? Top::events
             : key == "deviceProperties"          ? Top::devices
             : key == "ERROR" || key == "WARNING" ? Top::complaints
                                                  : Top::other;
    }
    return true;
  }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (list_ == List::complaints && depth_ == 2) return complaint({text, size});
    return value({text, size});
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) { return value({text, size}); }
  bool Default() {
    field_ = Field::other;
    return true;
  }

 private:
  enum class List { none, events, devices, complaints };
  enum class Top { other, events, devices, complaints };
  enum class Field {
    other,
    ph,
    cat,
    name,
    pid,
    tid,
    ts,
    dur,
    args,
    device,
    stream,
    correlation,
    device_id,
    device_name
  };

  static Field event_field(std::string_view key) {
    switch (key.size()) {
      case 2:
        return key == "ph" ? Field::ph : key == "ts" ? Field::ts : Field::other;
      case 3:
        return key == "cat"   ? Field::cat
               : key == "dur" ? Field::dur
               : key == "pid" ? Field::pid
               : key == "tid" ? Field::tid
                              : Field::other;
      case 4:
        return key == "name" ? Field::name : key == "args" ? Field::args : Field::other;
      default:
        return Field::other;
    }
  }

  static Field args_field(std::string_view key) {
    switch (key.size()) {
      case 6:
        return key == "device" ? Field::device : key == "stream" ? Field::stream : Field::other;
      case 11:
        return key == "correlation" ? Field::correlation : Field::other;
      default:
        return Field::other;
    }
  }

  bool enter() {
    field_ = Field::other;
    if (++depth_ <= kMaxDepth) return true;
    too_deep_ = true;
    return false;
  }

  bool complaint(std::string_view text) {
    const std::string lower = to_lower(text);
    if (lower.find("dropped") != std::string::npos ||
        lower.find("exceeded max gpu buffer") != std::string::npos ||
        lower.find("out of memory") != std::string::npos) {
      sink_.collector().lost(printable(cut_middle(text, 160)));
    }
    return true;
  }

  bool value(std::string_view text) {
    switch (field_) {
      case Field::ph:
        event_.complete = text == "X";
        break;
      case Field::cat:
        event_.kind = kind_of(text);
        break;
      case Field::name:
        event_.name.assign(text);
        break;
      case Field::ts:
        event_.ts.assign(text);
        break;
      case Field::dur:
        event_.dur.assign(text);
        break;
      case Field::pid:
        event_.pid = parse_int(text);
        break;
      case Field::tid:
        event_.tid = parse_int(text);
        break;
      case Field::device:
        event_.device = parse_int(text);
        break;
      case Field::stream:
        event_.stream = parse_int(text);
        break;
      case Field::correlation:
        event_.correlation = parse_int(text);
        break;
      case Field::device_id:
        device_id_ = parse_int(text);
        break;
      case Field::device_name:
        device_name_.assign(text);
        break;
      case Field::args:
      case Field::other:
        break;
    }
    field_ = Field::other;
    return true;
  }

  EventSink& sink_;
  JsonBuffer& buffer_;
  JsonStream& stream_;
  Event event_;
  std::uint64_t event_offset_ = 0;
  int depth_ = 0;
  int event_depth_ = 0;
  List list_ = List::none;
  Top top_ = Top::other;
  Field field_ = Field::other;
  bool in_args_ = false;
  bool too_deep_ = false;
  bool saw_events_ = false;
  std::optional<std::int64_t> device_id_;
  std::string device_name_;
};

/// Line and column of a byte, by reading the text again (only when something is wrong).
Location place_of(const std::string& path, std::uint64_t offset) {
  auto source = ByteSource::open(path);
  Location at{path, 1, 1};
  if (!source.ok()) return at;
  std::string chunk(1 << 16, '\0');
  std::uint64_t done = 0;
  while (done < offset) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), offset - done));
    const std::size_t got = (*source.value)->read(chunk.data(), want);
    if (got == 0) break;
    for (std::size_t i = 0; i < got; ++i) {
      const auto c = static_cast<unsigned char>(chunk[i]);
      at.column = c == '\n' ? 1 : at.column + ((c & 0xC0) == 0x80 ? 0 : 1);
      at.line += c == '\n' ? 1 : 0;
    }
    done += got;
  }
  return at;
}

Diagnostic broken(const std::string& path, rapidjson::ParseErrorCode code, std::uint64_t offset, bool at_end,
                  bool too_long) {
  std::string what;
  if (too_long) {
    what = fmt::format("a string of over 64 MiB before byte {}: the trace is damaged", offset);
  } else if (at_end) {
    what = fmt::format("the trace ends in the middle, at byte {}: it was cut (a crash, a full disk)", offset);
  } else {
    what = fmt::format("this is not JSON at byte {}", offset);
    if (code == rapidjson::kParseErrorObjectMissCommaOrCurlyBracket) {
      what += "; an old PyTorch did not escape quotes in kernel names";
    }
  }
  return diagnose("trace-broken", what, place_of(path, offset));
}

bool detect(std::string_view head, const std::string&) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  if (head.find("\"plumbline-table/") != std::string_view::npos) return false;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (has("\"traceEvents\"") || (has("\"ph\"") && has("\"ts\""))) return true;
  return head[first] == '{' && has("\"deviceProperties\"") && has("\"schemaVersion\"");
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  JsonBuffer buffer(**source.value);
  JsonStream stream(buffer);
  EventSink sink(path, options);
  TraceHandler handler(sink, buffer, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag>(stream,
                                                                                              handler);
  if ((*source.value)->error()) return failed<KernelTable>(*(*source.value)->error());
  if (result.IsError()) {
    if (handler.too_deep()) {
      return failed<KernelTable>(diagnose("json-too-deep", fmt::format("more than {} levels", kMaxDepth),
                                          place_of(path, stream.Tell())));
    }
    return failed<KernelTable>(
        broken(path, result.Code(), result.Offset(), stream.at_end(), buffer.too_long()));
  }
  while (stream.Peek() == ' ' || stream.Peek() == '\n' || stream.Peek() == '\r' || stream.Peek() == '\t')
    stream.Take();
  if (!stream.at_end())
    return failed<KernelTable>(
        broken(path, rapidjson::kParseErrorDocumentRootNotSingular, stream.Tell(), false, false));
  if (!handler.saw_events()) {
    return failed<KernelTable>(
        diagnose("trace-broken", "the document has no list of traceEvents", {path, 1, 1}));
  }
  return sink.finish();
}

}  // namespace

const Importer kTorchTrace = {"torch-trace", "PyTorch profiler trace (Chrome JSON, plain or .gz)", detect,
                              parse};

}  // namespace plumbline::profile
