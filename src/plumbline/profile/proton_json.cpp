// SPDX-License-Identifier: Apache-2.0
// Proton's profile (Triton's profiler) in Hatchet's JSON: a tree of frames, its kernels at the leaves with
// their launches and their summed time, and a last object with the devices. No launch has a time of its own.
#include <fmt/format.h>

#include <set>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/json_stream.h"

namespace plumbline::profile {
namespace {

/// Two levels a frame: Python stacks of a thousand frames are far below it.
constexpr std::size_t kMaxDepth = 10'000;

/// A frame of the tree while it is open. Its parts come in any order, its name mostly behind its children.
struct Frame {
  std::string name;
  std::string count;
  std::string time;
  std::optional<Unit> unit;
  std::string device_id;
  std::string device_type;
  bool has_cycles = false;
  bool is_frame = false;          ///< the last object of the document is none: it has the devices
  std::int64_t below_ps = 0;      ///< the time of the frames below
  std::size_t first_waiting = 0;  ///< kernels below that wait for the range
};

/// A kernel that waits until the frames around it are named.
struct Waiting {
  Launch launch;
  std::int64_t device = kUnknownId;
  bool inside = false;
};

class ProtonTree {
 public:
  ProtonTree(const std::string& path, const ImportOptions& options)
      : path_(path), options_(options), collector_("proton", path, options) {
    collector_.set_has_order(false);
  }

  void open(Frame& frame) const { frame.first_waiting = waiting_.size(); }

  /// A frame whose parts are all known; `parent` gets its time.
  void close(Frame& frame, Frame* parent) {
    if (!frame.is_frame) return;
    ++collector_.account().rows;
    has_cycles_ = has_cycles_ || frame.has_cycles;
    const std::int64_t own = take_kernel(frame);
    const std::int64_t all = own > 0 ? own : frame.below_ps;
    if (parent != nullptr && __builtin_add_overflow(parent->below_ps, all, &parent->below_ps))
      parent->below_ps = 0;
    if (frame.name != options_.range || options_.range.empty()) return;
    ++found_;
    for (std::size_t i = frame.first_waiting; i < waiting_.size(); ++i) waiting_[i].inside = true;
  }

  void device(const std::string& type, const std::string& id, const std::string& arch) {
    collector_.set_device_name(device_id(type, id), printable(fmt::format("{} arch {}", type, arch)));
  }

  Parsed<KernelTable> finish() {
    if (problem_) return failed<KernelTable>(std::move(*problem_));
    if (!options_.range.empty()) {
      if (found_ == 0) {
        return failed<KernelTable>(
            diagnose("import-no-such-range",
                     fmt::format("no frame or scope is called \"{}\"", printable(options_.range)), {path_}));
      }
      collector_.set_region("scope:" + options_.range);
      for (const Waiting& kernel : waiting_) {
        if (kernel.inside)
          keep(kernel.launch, kernel.device);
        else
          ++collector_.account().ignored;
      }
    }
    if (kernels_ == 0) {
      return failed<KernelTable>(
          diagnose("import-no-kernels",
                   has_cycles_ ? "the profile holds cycles of instrumented scopes, no kernels' "
                                 "times: start Proton without backend=\"instrumentation\""
                               : "no frame of the profile has a time",
                   {path_}));
    }
    if (inclusive_ > 0)
      collector_.note(
          fmt::format("{} frames hold the sum of those below them and are not counted", inclusive_));
    collector_.note(
        "Proton sums the launches of a kernel: no launch has a time of its own, and their order is not "
        "known");
    return collector_.finish();
  }

 private:
  std::int64_t device_id(const std::string& type, const std::string& id) {
    if (type.empty() && id.empty()) return kUnknownId;
    const auto number = parse_int(id);
    types_.insert(type);
    if (number && (types_.size() == 1 || type == *types_.begin())) return *number;
    return collector_.process_by_name(type + " " + id) - 1000;  // another kind of device: an id of its own
  }

  void drop(const Frame& frame, const char* why) {
    collector_.drop(diagnose("import-row-dropped",
                             fmt::format("{}: {}", printable(cut_middle(frame.name, 60)), why), {path_}));
  }

  /// The frame's own time in ps, where it is a kernel; every frame is kept, dropped or ignored.
  std::int64_t take_kernel(const Frame& frame) {
    RowAccount& account = collector_.account();
    if (frame.time.empty()) {
      ++account.ignored;
      return 0;
    }
    if (!frame.unit || frame.unit->quantity != Quantity::time) {
      if (!problem_)
        problem_ = diagnose("unit-unknown", "a frame's time has no unit that the importer knows", {path_});
      return 0;
    }
    const auto time = scaled_integer(frame.time, power_of_time(*frame.unit) + 3);
    const auto count = scaled_integer(frame.count, 0);
    if (time && *time == 0 && (!count || *count == 0)) {  // the root, and frames without launches
      ++account.ignored;
      return 0;
    }
    if (time && *time > 0 && frame.below_ps > 0) {
      if (*time == frame.below_ps) {
        ++inclusive_;
      } else if (!problem_) {
        problem_ =
            diagnose("import-rows-twice",
                     fmt::format("{} has a time, and so have frames below it: whether it holds theirs is not "
                                 "known",
                                 printable(cut_middle(frame.name, 60))),
                     {path_});
      }
      ++account.ignored;
      return *time;
    }
    ++kernels_;
    if (!time || *time < 0 || *time > kLongestNs * 1000) {
      drop(frame, "its time is not a number, negative or over 100 days");
      return 0;
    }
    if (!count || *count < 1 || *count > 1'000'000'000'000 || frame.name.empty()) {
      drop(frame, frame.name.empty() ? "a kernel without a name" : "its count of launches is missing");
      return *time;
    }
    Launch launch;
    launch.name = collector_.name_id(frame.name);
    launch.launches = *count;
    launch.time_ps = *time;
    launch.extremes = *count == 1;
    const std::int64_t device = device_id(frame.device_type, frame.device_id);
    if (options_.range.empty())
      keep(launch, device);
    else
      waiting_.push_back({launch, device, false});
    return *time;
  }

  void keep(const Launch& launch, std::int64_t device) {
    Group& group = collector_.group(kUnknownId, device);
    if (!collector_.add(group, launch)) {
      return collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_}));
    }
    ++group.kept_rows;
    ++collector_.account().kept;
  }

  const std::string& path_;
  const ImportOptions& options_;
  Collector collector_;
  std::optional<Diagnostic> problem_;
  std::vector<Waiting> waiting_;
  std::set<std::string> types_;
  std::int64_t kernels_ = 0;
  std::int64_t inclusive_ = 0;
  std::int64_t found_ = 0;
  bool has_cycles_ = false;
};

/// RapidJSON's events to frames.
class ProtonHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, ProtonHandler> {
 public:
  ProtonHandler(ProtonTree& tree, JsonBuffer& buffer, JsonStream& stream)
      : tree_(tree), buffer_(buffer), stream_(stream) {}

  bool too_deep() const { return too_deep_; }
  bool saw_frames() const { return saw_frames_; }

  bool StartObject() { return enter(next_object()); }
  bool StartArray() {
    const Place place = here();
    if (place == Place::outside) return enter(Place::roots);
    return enter(place == Place::frame && key_ == "children" ? Place::children : Place::other);
  }
  bool EndArray(rapidjson::SizeType) {
    places_.pop_back();
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    if (here() == Place::frame) {
      Frame frame = std::move(frames_.back());
      frames_.pop_back();
      tree_.close(frame, frames_.empty() ? nullptr : &frames_.back());
      buffer_.mark(stream_.Tell());
    }
    places_.pop_back();
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    const Place place = here();
    // The last object of the document has the devices by type and id.
    if (place == Place::frame && (key_ == "frame" || key_ == "metrics" || key_ == "children"))
      saw_frames_ = frames_.back().is_frame = true;
    if (place == Place::frame && places_.size() == 2) type_ = key_;
    if (place == Place::devices) device_ = key_;
    return true;
  }

  bool String(const char* text, rapidjson::SizeType size, bool) { return value({text, size}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) { return value({text, size}); }
  bool Default() { return true; }

 private:
  enum class Place { outside, roots, frame, label, metrics, children, devices, device, other };

  Place here() const { return places_.empty() ? Place::outside : places_.back(); }

  /// What an object that opens here is.
  Place next_object() const {
    switch (here()) {
      case Place::roots:
      case Place::children:
        return Place::frame;
      case Place::frame:
        if (key_ == "frame") return Place::label;
        if (key_ == "metrics") return Place::metrics;
        return places_.size() == 2 ? Place::devices : Place::other;
      case Place::devices:
        return Place::device;
      default:
        return Place::other;
    }
  }

  bool enter(Place place) {
    if (places_.size() >= kMaxDepth) {
      too_deep_ = true;
      return false;
    }
    places_.push_back(place);
    if (place == Place::frame) {
      frames_.emplace_back();
      tree_.open(frames_.back());
    }
    return true;
  }

  bool value(std::string_view text) {
    const Place place = here();
    if (place == Place::label && key_ == "name") {
      frames_.back().name.assign(text);
    } else if (place == Place::metrics) {
      metric(frames_.back(), text);
    } else if (place == Place::device && key_ == "arch") {
      tree_.device(type_, device_, std::string(text));
    }
    return true;
  }

  void metric(Frame& frame, std::string_view text) const {
    if (key_ == "count") {
      frame.count.assign(text);
    } else if (key_ == "device_id") {
      frame.device_id.assign(text);
    } else if (key_ == "device_type") {
      frame.device_type.assign(text);
    } else if (key_ == "cycles" || key_ == "normalized_cycles") {
      frame.has_cycles = true;
    } else if (key_.starts_with("time (") && key_.ends_with(')')) {
      frame.time.assign(text);
      frame.unit = read_unit(std::string_view(key_).substr(6, key_.size() - 7));
    }
  }

  ProtonTree& tree_;
  JsonBuffer& buffer_;
  JsonStream& stream_;
  std::vector<Place> places_;
  std::vector<Frame> frames_;
  std::string key_;
  std::string type_;
  std::string device_;
  bool too_deep_ = false;
  bool saw_frames_ = false;
};

bool detect(std::string_view head, const std::string&) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return false;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return has("\"frame\"") && has("\"metrics\"") && !has("\"ph\"");
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  JsonBuffer buffer(**source.value);
  JsonStream stream(buffer);
  ProtonTree tree(path, options);
  ProtonHandler handler(tree, buffer, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag |
                   rapidjson::kParseIterativeFlag>(stream, handler);
  if ((*source.value)->error()) return failed<KernelTable>(*(*source.value)->error());
  if (result.IsError()) {
    if (handler.too_deep()) {
      return failed<KernelTable>(diagnose("json-too-deep", fmt::format("more than {} levels", kMaxDepth),
                                          place_of_byte(path, stream.Tell())));
    }
    return failed<KernelTable>(
        broken_json(path, result.Code(), result.Offset(), stream.at_end(), buffer.too_long()));
  }
  rapidjson::SkipWhitespace(stream);
  if (!stream.at_end()) {
    return failed<KernelTable>(
        broken_json(path, rapidjson::kParseErrorDocumentRootNotSingular, stream.Tell(), false, false));
  }
  if (!handler.saw_frames())
    return failed<KernelTable>(diagnose("trace-broken", "the document has no tree of frames", {path, 1, 1}));
  return tree.finish();
}

}  // namespace

const Importer kProton = {"proton", "Proton's profile (Hatchet JSON, .hatchet)", detect, parse};

}  // namespace plumbline::profile
