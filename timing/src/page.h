// SPDX-License-Identifier: Apache-2.0
// What the harness and the process that it measures share: two pieces of memory that the harness makes.
// Nothing else that passes between them decides a reading.
#pragma once

#include <atomic>
#include <cstdint>

#include "plumbline/timing.h"

namespace plumbline::timing {

/// Calls of one window at most.
constexpr int kMaxCalls = 1024;
/// Findings of one window that are told one by one.
constexpr int kMaxProblems = 16;

/// Written by the harness only: the other process gets a mapping that it cannot make writable
/// (F_SEAL_FUTURE_WRITE).
struct Orders {
  alignas(128) volatile std::int32_t
      gate;  ///< the GPU's holding kernel ends once this reaches the window's epoch
  alignas(128) pl_order order;
  alignas(128) volatile std::int32_t taken;  ///< the harness has its copy of what this order's calls returned
};

/// Written by the GPU of the measured process, in stream order, and by no processor there.
struct Marks {
  alignas(
      128) volatile std::int32_t gate;  ///< as Orders::gate, for systems that register no read-only memory
  alignas(128) volatile std::int32_t opened;
  alignas(128) volatile std::int32_t closed;
};

/// Written by the measured process.
struct Answers {
  alignas(128) volatile std::int32_t armed;    ///< everything of this epoch is enqueued
  alignas(128) volatile std::int32_t drained;  ///< its device was idle after this epoch
  alignas(128) volatile std::int32_t done;     ///< the answer to this order is complete
  pl_answer answer;
  pl_reading readings[kMaxCalls];
  double scripted_ms[kMaxCalls];  ///< the fake's stand-in for the harness's clock
};

constexpr std::size_t kPage = 4096;
static_assert(sizeof(Orders) <= kPage && sizeof(Marks) <= kPage);
constexpr std::size_t kOrdersBytes = kPage;
constexpr std::size_t kAnswersBytes = kPage + (sizeof(Answers) + kPage - 1) / kPage * kPage;

/// The three parts as one process has them mapped.
struct Page {
  Orders* orders = nullptr;
  Marks* marks = nullptr;  ///< the first page of the second piece
  Answers* answers = nullptr;
};

/// Maps both files; `harness` maps the orders to write, the other side to read. Throws Failure.
Page map_page(int orders_file, int answers_file, bool harness);
void unmap_page(Page& page);

}  // namespace plumbline::timing
