// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace plumbline::recorder {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(byte));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.0f", value);  // whole nanoseconds
  return buffer;
}

std::string transfer_json(const Transfer& transfer) {
  return "{\"count\": " + std::to_string(transfer.count) + ", \"bytes\": " + std::to_string(transfer.bytes) +
         ", \"time_ns\": " + number(transfer.time_ns) + "}";
}

struct KernelSum {
  std::int64_t launches = 0;
  std::int64_t in_graphs = 0;
  double time_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
};

}  // namespace

std::string demangle(const char* name) {
  if (name == nullptr) return "(unnamed kernel)";
  if (name[0] != '_' || name[1] != 'Z') return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : name;
}

Coverage cover(std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals) {
  Coverage result;
  if (intervals.empty()) return result;
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t open = intervals.front().first;
  std::uint64_t close = open;
  const std::uint64_t first = open;
  for (const auto& [start, end] : intervals) {
    if (start > close) {
      result.busy_ns += static_cast<double>(close - open);
      open = start;
      close = end;
    }
    close = std::max(close, end);
  }
  result.busy_ns += static_cast<double>(close - open);
  result.span_ns = static_cast<double>(close - first);
  return result;
}

std::uint32_t Recording::intern(const char* name) {
  // The same pointer mostly comes again, but a module that is unloaded may leave it to another name.
  if (name != nullptr && name == last_ && last_text_ == name) return last_index_;
  const std::string raw = name != nullptr ? name : "";
  const auto [found, fresh] = by_name_.try_emplace(raw, static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.push_back(demangle(name));
  last_ = name;
  last_text_ = raw;
  last_index_ = found->second;
  return found->second;
}

void Recording::add(const Launch& launch) {
  if (launch.end_ns < launch.start_ns || launch.start_ns == 0) {
    ++broken;
    return;
  }
  launches_.push_back({launch, regions});
}

std::string Recording::json() const {
  std::vector<KernelSum> sums(names_.size());
  std::map<int, std::vector<std::pair<std::uint64_t, std::uint64_t>>> by_region;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::uint64_t, std::uint64_t>>>
      by_stream;
  for (const auto& [launch, number_of_region] : launches_) {
    KernelSum& sum = sums[launch.kernel];
    const auto ns = static_cast<double>(launch.end_ns - launch.start_ns);
    sum.min_ns = sum.launches == 0 ? ns : std::min(sum.min_ns, ns);
    sum.max_ns = std::max(sum.max_ns, ns);
    ++sum.launches;
    if (launch.graph != 0) ++sum.in_graphs;
    sum.time_ns += ns;
    // The harness's blocking kernel and stamps around a window are not work of the region.
    if (names_[launch.kernel] == "plumbline_block" || names_[launch.kernel] == "plumbline_stamp") continue;
    by_region[number_of_region].emplace_back(launch.start_ns, launch.end_ns);
    by_stream[{launch.device, launch.stream}].emplace_back(launch.start_ns, launch.end_ns);
  }
  Coverage all;
  for (const auto& [index, intervals] : by_region) {
    const Coverage one = cover(intervals);
    all.busy_ns += one.busy_ns;
    all.span_ns += one.span_ns;
  }
  std::string out = "{\"schema\": \"plumbline-recording/1\",\n \"pid\": " + std::to_string(getpid()) +
                    ", \"region\": " + quoted(region) + ", \"regions\": " + std::to_string(regions) +
                    ", \"calls\": " + std::to_string(calls) + ", \"dropped\": " + std::to_string(dropped) +
                    ", \"broken\": " + std::to_string(broken) +
                    ", \"cupti\": " + std::to_string(cupti_version) + ",\n \"error\": " + quoted(error) +
                    ",\n \"launches\": " + std::to_string(launches_.size()) +
                    ", \"busy_ns\": " + number(all.busy_ns) + ", \"span_ns\": " + number(all.span_ns) +
                    ",\n \"memcpy\": " + transfer_json(copies) + ", \"memset\": " + transfer_json(fills) +
                    ",\n \"devices\": [";
  std::string comma;
  for (const auto& [id, name] : devices) {
    out += comma + "{\"id\": " + std::to_string(id) + ", \"name\": " + quoted(name) + "}";
    comma = ", ";
  }
  out += "],\n \"streams\": [";
  comma.clear();
  for (const auto& [key, intervals] : by_stream) {
    out += comma + "{\"device\": " + std::to_string(key.first) +
           ", \"stream\": " + std::to_string(key.second) +
           ", \"launches\": " + std::to_string(intervals.size()) +
           ", \"busy_ns\": " + number(cover(intervals).busy_ns) + "}";
    comma = ", ";
  }
  out += "],\n \"kernels\": [";
  comma.clear();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].launches == 0) continue;
    out += comma + "\n  {\"name\": " + quoted(names_[i]) +
           ", \"launches\": " + std::to_string(sums[i].launches) +
           ", \"in_graphs\": " + std::to_string(sums[i].in_graphs) +
           ", \"time_ns\": " + number(sums[i].time_ns) + ", \"min_ns\": " + number(sums[i].min_ns) +
           ", \"max_ns\": " + number(sums[i].max_ns) + "}";
    comma = ",";
  }
  return out + "]}\n";
}

std::string Recording::launches_csv() const {
  std::string out = "region,kernel,device,stream,graph,start_ns,end_ns\n";
  for (const auto& [launch, number_of_region] : launches_) {
    std::string name = names_[launch.kernel];
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, 1, '"');
    out += std::to_string(number_of_region) + ",\"" + name + "\"," + std::to_string(launch.device) + "," +
           std::to_string(launch.stream) + "," + std::to_string(launch.graph) + "," +
           std::to_string(launch.start_ns) + "," + std::to_string(launch.end_ns) + "\n";
  }
  return out;
}

}  // namespace plumbline::recorder
