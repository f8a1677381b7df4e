// SPDX-License-Identifier: Apache-2.0
// A GPU that is a script: virtual time, two streams, a list of clocks. For tests of the rules, without a GPU.
#pragma once

#include <map>
#include <vector>

#include "device.h"

namespace plumbline::timing {

/// Virtual time in ns. Work scales with clock: `ns` is meant at 1000 MHz of the first clock of the script.
class ScriptedDevice final : public Device {
 public:
  // The script.
  void work(double ns, bool other_stream);
  void host_takes(double ns) { host_step_ns_ = ns; }
  void clocks(std::vector<double> mhz) { clocks_ = std::move(mhz); }
  void reasons(std::vector<std::int32_t> reasons) { reasons_ = std::move(reasons); }
  void synchronize();

  pl_device_info info() override;
  void block(double limit_ms, double armed_ms) override;
  void armed() override { block_limit_ns_ = armed_limit_ns_; }
  void release() override;
  void abandon() override { open_window(); }
  void mark(int which) override;
  void serve(const Page& page) override { page_ = &page; }
  void epoch(int number) override { epoch_ = number; }
  bool block_expired() override { return expired_; }
  void record(int event) override;
  void stamp(int slot) override;
  void wait(int event) override;
  void drain() override;
  double elapsed_ms(int from, int to) override;
  double clock_mhz() override { return clock(); }
  Health health() override;
  void flush() override;
  void launch_empty() override { work(1000, false); }
  std::optional<std::vector<unsigned>> processes() override { return std::nullopt; }
  void gather(std::uint64_t to, std::uint64_t from, const Layout& layout, int item_bytes) override;
  void spin(std::uint64_t ticks, std::uint64_t stamps) override;
  double host_ns() override { return host_; }

  std::uint64_t alloc(std::uint64_t bytes) override;
  void free(std::uint64_t address) override;
  void fill(std::uint64_t address, std::uint32_t word, std::uint64_t bytes) override;
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) override;
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override;
  void share(std::uint64_t address, unsigned char* handle) override;
  std::uint64_t attach(const unsigned char* handle) override;
  void detach(std::uint64_t address) override;

 private:
  double clock() const;
  // What is enqueued on the main stream behind the blocking kernel waits in `pending_`; event < 0 is work.
  struct Item {
    double ns = 0;
    int event = -1;
  };
  void run(const Item& item);
  void open_window();

  struct Memory {
    int file = -1;
    std::uint64_t bytes = 0;
  };
  std::uint64_t map(int file, std::uint64_t bytes);
  std::map<std::uint64_t, Memory> memory_;

  double host_ = 0;                  ///< host clock
  double main_end_ = 0;              ///< when the main stream is done
  double other_end_ = 0;             ///< when the other stream is done
  double events_[4] = {0, 0, 0, 0};  ///< the window's two, and its two marks
  std::vector<Item> pending_;
  double pending_other_ns_ = 0;
  bool blocked_ = false;
  bool expired_ = false;
  double block_limit_ns_ = 0;
  double armed_limit_ns_ = 0;
  double block_start_ = 0;
  const Page* page_ = nullptr;  ///< another process's, when it orders the windows
  int epoch_ = 0;
  double host_step_ns_ = 100;
  std::size_t window_ = 0;  ///< windows opened so far
  std::vector<double> clocks_ = {1000};
  std::vector<std::int32_t> reasons_ = {0};
};

}  // namespace plumbline::timing
