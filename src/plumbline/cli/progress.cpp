// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline::cli {
namespace {

constexpr auto kFirst = std::chrono::seconds(2);
constexpr auto kNext = std::chrono::milliseconds(200);
constexpr std::size_t kNoWidth = 79;

void write_all(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// "12,345 layers", "12.3 MB".
std::string amount(double count, const std::string& unit) {
  if (unit == "bytes") return fmt::format("{} MB", format_fixed(count / 1e6, 1));
  return fmt::format("{} {}", format_grouped(static_cast<std::int64_t>(count)), unit);
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h", (whole + 1800) / 3600);
}

}  // namespace

Progress::Progress(const Io& io, std::string what, std::string unit)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      width_(io.width > 0 ? static_cast<std::size_t>(io.width) - 1 : kNoWidth) {
  if (io.progress) painter_ = std::thread([this] { paint_until_the_end(); });
}

Progress::~Progress() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  painter_.join();
}

void Progress::update(std::uint64_t done, std::uint64_t all) {
  done_.store(done, std::memory_order_relaxed);
  all_.store(all, std::memory_order_relaxed);
}

void Progress::say(const std::string& what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
}

std::string Progress::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
  const auto all = static_cast<double>(all_.load(std::memory_order_relaxed));
  std::string out = what_;
  if (done > 0 && all > 0) {
    out += fmt::format(": {} %, {}/s", format_fixed(100 * done / all, 0), amount(done / seconds, unit_));
    if (done < all) out += fmt::format(", about {} left", duration(seconds * (all - done) / done));
  } else if (done > 0) {
    out += fmt::format(": {}, {}/s", amount(done, unit_), amount(done / seconds, unit_));
  } else {
    out += fmt::format(": {} so far", duration(seconds));
  }
  return cut_middle(one_line(out), width_);
}

void Progress::paint_until_the_end() {
  std::unique_lock lock(mutex_);
  bool shown = false;
  for (auto wait = std::chrono::milliseconds(kFirst); !wake_.wait_for(lock, wait, [this] { return over_; });
       wait = kNext) {
    write_all("\r\x1b[2K" + line());
    shown = true;
  }
  if (shown) write_all("\r\x1b[2K");
}

}  // namespace plumbline::cli
