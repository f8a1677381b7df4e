// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/text.h"
#include "plumbline/profile/calls.h"

namespace plumbline::profile {
namespace {

std::string valid_utf8(std::string_view name) {
  std::string out(name);
  while (const auto bad = first_invalid_utf8(out)) out.replace(*bad, 1, "\xEF\xBF\xBD");
  return out;
}

bool add_to(std::int64_t& sum, std::int64_t value) { return !__builtin_add_overflow(sum, value, &sum); }

std::string list_ids(const std::set<std::int64_t>& ids) {
  std::string out;
  std::size_t shown = 0;
  for (const std::int64_t id : ids) {
    if (shown == 12) return out + fmt::format(" and {} more", ids.size() - shown);
    out += fmt::format("{}{}", shown == 0 ? "" : ", ",
                       id == kUnknownId ? std::string("unknown") : std::to_string(id));
    ++shown;
  }
  return out;
}

double to_ns(std::int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e3; }

}  // namespace

void add_copy(CopySums& sums, std::int64_t duration_ns) {
  ++sums.count;
  if (!add_to(sums.time_ps, duration_ns * 1000)) sums.time_ps = 0;
}

Collector::Collector(std::string source, std::string path, const ImportOptions& options)
    : source_(std::move(source)), path_(std::move(path)), options_(options) {}

std::uint32_t Collector::name_id(std::string_view name) {
  const auto known = raw_ids_.find(name);
  if (known != raw_ids_.end()) return known->second;
  const auto [it, fresh] =
      name_ids_.try_emplace(demangled(valid_utf8(name)), static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.push_back(&it->first);
  raw_ids_.emplace(name, it->second);
  return it->second;
}

Group& Collector::group(std::int64_t process, std::int64_t device) { return groups_[{process, device}]; }

bool Collector::has_process(std::int64_t process) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& entry) {
    return entry.first.first == process && entry.second.launches > 0;
  });
}

std::size_t Collector::processes() const {
  std::set<std::int64_t> ids;
  for (const auto& [key, group] : groups_) {
    if (group.launches > 0) ids.insert(key.first);
  }
  return ids.size();
}

bool fit_extremes(Launch& launch) {
  if (!launch.min_ps || !launch.max_ps) return true;
  const auto low = static_cast<double>(*launch.min_ps), high = static_cast<double>(*launch.max_ps);
  const auto others = static_cast<double>(launch.launches - 1), total = static_cast<double>(launch.time_ps);
  const double slack = 0.02 * total + 1000.0 * static_cast<double>(launch.launches);
  if (low > high + slack || high + others * low > total + slack || low + others * high < total - slack)
    return false;
  launch.max_ps = std::min(*launch.max_ps, launch.time_ps);
  launch.min_ps = std::min(*launch.min_ps, *launch.max_ps);
  return true;
}

bool Collector::add(Group& group, const Launch& launch) {
  if (group.names.size() <= launch.name) group.names.resize(launch.name + 1);
  NameSums& sums = group.names[launch.name];
  NameSums next = sums;
  if (!add_to(next.time_ps, launch.time_ps) || !add_to(next.launches, launch.launches)) return false;
  if (!add_to(group.launches, launch.launches)) return false;
  const std::int64_t low = launch.min_ps.value_or(launch.time_ps);
  const std::int64_t high = launch.max_ps.value_or(launch.time_ps);
  next.min_ps = sums.launches == 0 ? low : std::min(sums.min_ps, low);
  next.max_ps = std::max(sums.max_ps, high);
  next.extremes = sums.extremes && launch.extremes;
  if (launch.tensor_pct) {
    next.tensor_weight += *launch.tensor_pct * static_cast<double>(launch.time_ps);
    next.tensor_launches += launch.launches;
  }
  sums = next;
  if (launch.stream && *launch.stream != group.last_stream) {
    group.last_stream = *launch.stream;
    group.streams.insert(*launch.stream);
  }
  return true;
}

bool Collector::add_timed(Group& group, const Launch& launch, std::int64_t start_ns,
                          std::int64_t duration_ns) {
  if (!add(group, launch)) return false;
  TimedLaunch timed{start_ns, kLong, launch.name};
  if (duration_ns < static_cast<std::int64_t>(kLong)) {
    timed.duration_ns = static_cast<std::uint32_t>(duration_ns);
  } else {
    auto& longest = group.long_launches[{start_ns, launch.name}];
    longest = std::max(longest, duration_ns);
  }
  group.timeline.push_back(timed);
  return true;
}

std::int64_t Collector::process_by_name(std::string_view name) {
  const auto known = process_names_.find(name);
  if (known != process_names_.end()) return known->second;
  const auto id = static_cast<std::int64_t>(-2) - static_cast<std::int64_t>(process_names_.size());
  process_names_.emplace(std::string(name), id);
  return id;
}

void Collector::join_processes_of_own_devices() {
  std::set<std::int64_t> devices;
  for (const auto& [key, group] : groups_) {
    if (!devices.insert(key.second).second) return;  // two processes on one device: both stay apart
  }
  std::map<Key, Group> joined;
  for (auto& [key, group] : groups_) joined.emplace(Key{kUnknownId, key.second}, std::move(group));
  groups_ = std::move(joined);
}

/// Ids, and the text where the file names a process by one.
std::string Collector::list_processes(const std::set<std::int64_t>& ids) const {
  std::string out = list_ids(ids);
  std::size_t shown = 0;
  for (const auto& [name, id] : process_names_) {
    if (ids.count(id) == 0 || shown++ == 4) continue;
    out += fmt::format(", {} is \"{}\"", id, printable(cut_middle(name, 40)));
  }
  return out;
}

/// Every row that was read must have been counted where it went; otherwise an importer is wrong, and its sums
/// may be.
void Collector::check_account() {
  if (account_.rows == account_.kept + account_.dropped + account_.ignored) return;
  diagnostics_.push_back(
      diagnose("import-account",
               fmt::format("{} rows were read, and {} kept, {} dropped, {} ignored", account_.rows,
                           account_.kept, account_.dropped, account_.ignored),
               {path_}));
}

void Collector::drop(Diagnostic why) {
  constexpr std::int64_t kReported = 20;
  if (++account_.dropped <= kReported) diagnostics_.push_back(std::move(why));
}

void Collector::lost(const std::string& what, Location at) {
  lossy_ = true;
  if (at.file.empty()) at.file = path_;
  diagnostics_.push_back(diagnose("import-lossy", what, std::move(at)));
}

/// The groups that the options ask for. False when that is not one choice.
bool Collector::choose(std::vector<Key>& chosen) {
  std::set<std::int64_t> processes;
  std::set<std::int64_t> devices;
  for (const auto& [key, group] : groups_) {
    if (group.launches == 0) continue;
    const bool process_fits = !options_.process || *options_.process == key.first;
    const bool device_fits = !options_.device || *options_.device == key.second;
    processes.insert(key.first);
    devices.insert(key.second);
    if (process_fits && device_fits) chosen.push_back(key);
  }
  if (processes.empty()) {
    diagnostics_.push_back(diagnose("import-no-kernels", "no kernel launches in the region", {path_}));
    return false;
  }
  if (chosen.empty()) {
    const bool by_device = options_.device && devices.count(*options_.device) == 0;
    diagnostics_.push_back(
        by_device ? diagnose("import-no-such-device",
                             fmt::format("no kernels of device {}; the file has device {}", *options_.device,
                                         list_ids(devices)),
                             {path_})
                  : diagnose("import-no-such-process",
                             fmt::format("no kernels of process {}; the file has process {}",
                                         options_.process.value_or(kUnknownId), list_processes(processes)),
                             {path_}));
    return false;
  }
  if (chosen.size() == 1 || options_.ranks) return true;
  std::set<std::int64_t> left_devices;
  std::set<std::int64_t> left_processes;
  for (const Key& key : chosen) {
    left_processes.insert(key.first);
    left_devices.insert(key.second);
  }
  const bool by_device = left_devices.size() > 1;
  diagnostics_.push_back(
      by_device
          ? diagnose(
                "import-several-devices",
                fmt::format("kernels of devices {}: choose one with --device N, or --ranks when they are "
                            "ranks of one job",
                            list_ids(left_devices)),
                {path_})
          : diagnose("import-several-processes",
                     fmt::format("kernels of processes {}: choose one with --process N, or --ranks when they "
                                 "are ranks of one job",
                                 list_processes(left_processes)),
                     {path_}));
  return false;
}

/// Busy time is the union of the launches; gaps are the rest of the span from the first start to the last
/// end.
void Collector::add_times(KernelTable& table, Group& group) {
  if (group.timeline.empty()) return;
  const auto earlier = [](const TimedLaunch& a, const TimedLaunch& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.duration_ns != b.duration_ns ? a.duration_ns < b.duration_ns : a.name < b.name;
  };
  if (!std::is_sorted(group.timeline.begin(), group.timeline.end(), earlier)) {
    std::sort(group.timeline.begin(), group.timeline.end(), earlier);
  }
  if (clock_step_ns_ > 1) return;
  double busy = 0;
  double total = 0;
  std::int64_t reach = group.timeline.front().start_ns;
  for (const TimedLaunch& launch : group.timeline) {
    std::int64_t duration = launch.duration_ns;
    if (launch.duration_ns == kLong) duration = group.long_launches.at({launch.start_ns, launch.name});
    std::int64_t end = 0;
    if (__builtin_add_overflow(launch.start_ns, duration, &end)) end = INT64_MAX;
    const std::int64_t from = std::max(launch.start_ns, reach);
    if (end > from)
      busy += static_cast<double>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(from));
    reach = std::max(reach, end);
    total += static_cast<double>(duration);
  }
  // Differences of integers: a double does not hold an absolute time in nanoseconds.
  const double span = static_cast<double>(static_cast<std::uint64_t>(reach) -
                                          static_cast<std::uint64_t>(group.timeline.front().start_ns));
  if (span > static_cast<double>(kLongestNs))
    return lost(fmt::format("launches lie {:.0f} days apart: a start is damaged, and no busy time is claimed",
                            span / 8.64e13));
  table.busy_ns = busy;
  table.gaps_ns = std::max(0.0, span - busy);
  table.overlap_ns = std::max(0.0, total - busy);
}

/// Two copies of one recording in a file give every launch a twin that started in the same nanosecond. Clocks
/// of whole microseconds say nothing: there two streams may well agree.
void Collector::check_twins(const Group& group) {
  std::size_t twins = 0;
  bool fine = false;
  for (std::size_t i = 0; i < group.timeline.size(); ++i) {
    const TimedLaunch& launch = group.timeline[i];
    fine = fine || launch.start_ns % 1000 != 0;
    if (i == 0) continue;
    const TimedLaunch& before = group.timeline[i - 1];
    twins += launch.start_ns == before.start_ns && launch.duration_ns == before.duration_ns &&
             launch.name == before.name;
  }
  if (twins == 0 || !fine || clock_step_ns_ > 1) return;
  if (2 * twins >= group.timeline.size()) {
    diagnostics_.push_back(diagnose(
        "import-rows-twice",
        "every launch appears twice, with the same start, duration and name: two copies of one recording",
        {path_}));
  } else if (20 * twins >= group.timeline.size()) {
    lost(fmt::format("{} of {} launches appear twice, with the same start, duration and name", twins,
                     group.timeline.size()));
  }
}

void Collector::find_window(KernelTable& table, std::int64_t process, Group& group) {
  RegionShape shape;
  std::vector<std::uint32_t> place(group.names.size(), 0);
  for (std::size_t id = 0; id < group.names.size(); ++id) {
    if (group.names[id].launches == 0) continue;
    place[id] = static_cast<std::uint32_t>(shape.names.size());
    shape.names.push_back(*names_[id]);
    shape.launches.push_back(group.names[id].launches);
  }
  if (has_order_) {
    shape.sequence.reserve(group.timeline.size() + group.sequence.size());
    for (const TimedLaunch& launch : group.timeline) shape.sequence.push_back(place[launch.name]);
    for (const std::uint32_t name : group.sequence) shape.sequence.push_back(place[name]);
  }
  shape.asked = options_.calls;
  const auto own = range_instances_.find(process);
  const auto any = range_instances_.find(kUnknownId);
  shape.range_instances = own != range_instances_.end()   ? own->second
                          : any != range_instances_.end() ? any->second
                                                          : 0;
  WindowCalls found = find_window_calls(shape);
  found.doubts.insert(found.doubts.begin(), doubts_.begin(), doubts_.end());
  if (!found.refusal.empty())
    diagnostics_.push_back(diagnose("import-not-the-window", found.refusal, {path_}));
  for (std::string& doubt : found.doubts) {
    diagnostics_.push_back(diagnose("import-window-doubt", doubt, {path_}));
    table.notes.push_back(std::move(doubt));
  }
  table.calls = found.calls;
  if (!found.note.empty()) table.notes.push_back(std::move(found.note));
}

KernelTable Collector::build(const Key& key, Group& group) {
  KernelTable table;
  table.source = source_;
  table.region = region_;
  const auto device = device_names_.find(key.second);
  if (device != device_names_.end()) table.device = device->second;
  for (std::size_t id = 0; id < group.names.size(); ++id) {
    const NameSums& sums = group.names[id];
    if (sums.launches == 0) continue;
    KernelRow row;
    row.name = *names_[id];
    row.launches = sums.launches;
    row.time_ns = to_ns(sums.time_ps);
    if (sums.extremes) {
      row.min_ns = to_ns(sums.min_ps);
      row.max_ns = to_ns(sums.max_ps);
    }
    if (sums.tensor_launches == sums.launches && sums.time_ps > 0) {
      row.tensor_pct = sums.tensor_weight / static_cast<double>(sums.time_ps);
    }
    table.kernels.push_back(std::move(row));
  }
  if (!group.streams.empty()) table.streams = static_cast<std::int64_t>(group.streams.size());
  if (sees_copies_) {
    table.memcpy = CopyTotals{group.memcpy.count, to_ns(group.memcpy.time_ps)};
    table.memset = CopyTotals{group.memset.count, to_ns(group.memset.time_ps)};
  }
  add_times(table, group);
  check_twins(group);
  table.notes = notes_;
  if (clock_step_ns_ > 1 && !group.timeline.empty()) {
    table.notes.push_back(
        fmt::format("starts are rounded to {} ns: busy time and gaps are not claimed", clock_step_ns_));
  }
  find_window(table, key.first, group);
  table.account = account_;
  for (const auto& [other, rest] : groups_) {
    if (other == key) continue;
    table.account.kept -= rest.kept_rows;
    table.account.ignored += rest.kept_rows;
  }
  table.lossy = lossy_ || table.account.dropped > 0;
  finish_table(table);
  return table;
}

Parsed<KernelTable> Collector::finish() {
  Parsed<KernelTable> result;
  std::vector<Key> chosen;
  if (account_.dropped > 20) {
    diagnostics_.push_back(
        diagnose("import-row-dropped", fmt::format("and {} more rows", account_.dropped - 20), {path_}));
  }
  check_account();
  if (choose(chosen)) {
    std::vector<KernelTable> tables;
    std::vector<std::string> labels;
    for (const Key& key : chosen) {
      tables.push_back(build(key, groups_.at(key)));
      labels.push_back(fmt::format("process {} device {}", key.first, key.second));
    }
    KernelTable table = tables.size() == 1 ? std::move(tables.front()) : slowest_rank(tables, labels);
    if (table.total_ns > 0) {
      result.value = std::move(table);
    } else {
      diagnostics_.push_back(diagnose("import-no-time", "every kernel launch took 0 ns", {path_}));
    }
  }
  if (has_errors(diagnostics_)) result.value.reset();
  result.diagnostics = std::move(diagnostics_);
  return result;
}

}  // namespace plumbline::profile
