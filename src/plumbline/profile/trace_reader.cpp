// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/trace_reader.h"

#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/profile/json_stream.h"

namespace plumbline::profile {
namespace {

constexpr int kMaxDepth = 200;

/// RapidJSON's events to trace events. Depths: 1 is the document, then its list, an event, its args.
class TraceHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TraceHandler> {
 public:
  TraceHandler(const TraceSink& sink, JsonBuffer& buffer, JsonStream& stream)
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
      sink_.event(event_, event_offset_);
      buffer_.mark(stream_.Tell());
    } else if (depth_ == 3 && list_ == List::devices && device_id_ && sink_.device) {
      sink_.device(*device_id_, device_name_);
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
    if (list_ == List::complaints && depth_ == 2 && sink_.complaint) {
      sink_.complaint({text, size});
      return true;
    }
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
    label,
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
      case 4:
        return key == "name" ? Field::label : Field::other;
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

  bool value(std::string_view text) {
    switch (field_) {
      case Field::ph:
        event_.complete = text == "X";
        event_.metadata = text == "M";
        break;
      case Field::cat:
        event_.kind = trace_kind(text);
        event_.category.assign(text);
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
        if (!event_.pid) event_.process.assign(text);
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
      case Field::label:
        event_.label.assign(text);
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

  const TraceSink& sink_;
  JsonBuffer& buffer_;
  JsonStream& stream_;
  TraceEvent event_;
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

}  // namespace

std::optional<Diagnostic> read_trace(ByteSource& source, const std::string& path, const TraceSink& sink) {
  JsonBuffer buffer(source);
  JsonStream stream(buffer);
  TraceHandler handler(sink, buffer, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag>(stream,
                                                                                              handler);
  if (source.error()) return source.error();
  if (result.IsError()) {
    if (handler.too_deep()) {
      return diagnose("json-too-deep", fmt::format("more than {} levels", kMaxDepth),
                      place_of_byte(path, stream.Tell()));
    }
    return broken_json(path, result.Code(), result.Offset(), stream.at_end(), buffer.too_long());
  }
  rapidjson::SkipWhitespace(stream);
  if (!stream.at_end())
    return broken_json(path, rapidjson::kParseErrorDocumentRootNotSingular, stream.Tell(), false, false);
  if (!handler.saw_events())
    return diagnose("trace-broken", "the document has no list of traceEvents", {path, 1, 1});
  return std::nullopt;
}

}  // namespace plumbline::profile
