// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <thread>

#include "guarded.h"
#include "sized.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace plumbline::timing {

Page map_page(int orders_file, int answers_file, bool harness) {
  void* orders =
      mmap(nullptr, kOrdersBytes, harness ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, orders_file, 0);
  void* answers = mmap(nullptr, kAnswersBytes, PROT_READ | PROT_WRITE, MAP_SHARED, answers_file, 0);
  if (orders == MAP_FAILED || answers == MAP_FAILED)
    throw Failure(PL_USAGE, "mapping the shared page failed");
  if (!harness) {  // what the measured process forks has neither
    madvise(orders, kOrdersBytes, MADV_DONTFORK);
    madvise(answers, kAnswersBytes, MADV_DONTFORK);
  }
  Page page;
  page.orders = static_cast<Orders*>(orders);
  page.marks = static_cast<Marks*>(answers);
  page.answers = reinterpret_cast<Answers*>(static_cast<char*>(answers) + kPage);
  return page;
}

void unmap_page(Page& page) {
  if (page.orders != nullptr) munmap(page.orders, kOrdersBytes);
  if (page.marks != nullptr) munmap(page.marks, kAnswersBytes);
  page = {};
}

}  // namespace plumbline::timing

using namespace plumbline::timing;

struct pl_page {
  Page page;
  int orders_file = -1;
  int answers_file = -1;
  pl_order order{};
  int epoch = 0;
};

namespace {

using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

enum State : int { kLimit = 0, kReady = 1, kAnswered = 2, kGone = 3 };

bool hung_up(int file) {
  pollfd one{file, 0, 0};
  return file >= 0 && poll(&one, 1, 0) > 0 && (one.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/// Polls until `ready`, hard for the first milliseconds, and looks now and then whether it makes sense to go
/// on.
template <class Ready>
int poll_until(const pl_page& page, int alive, Clock::time_point limit, bool answer_ends,
               const Ready& ready) {
  const auto start = Clock::now();
  auto look = start + std::chrono::milliseconds(20);
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return kReady;
    }
    if (answer_ends && page.page.answers->done == page.order.number) return ready() ? kReady : kAnswered;
    const auto now = Clock::now();
    if (now < look) continue;
    look = now + std::chrono::milliseconds(5);
    if (hung_up(alive)) return kGone;
    if (now > limit) return kLimit;
    if (now - start > std::chrono::seconds(2)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Clock::time_point limit_from(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Opens window `index` and waits for its marks: State.
int watch_window(pl_page& page, int index, int alive, Clock::time_point limit, pl_bracket& seen) {
  const bool pipelined = page.order.kind == PL_PIPELINED;
  if (index < 0 || index >= (pipelined ? 1 : page.order.calls)) throw Failure(PL_USAGE, "no such window");
  const Page& shared = page.page;
  const int epoch = page.order.epoch + index;
  seen.early = shared.marks->opened >= epoch ? 1 : 0;
  Clock::time_point opened = Clock::now();
  for (volatile std::int32_t* gate : {&shared.orders->gate, &shared.marks->gate})
    __atomic_store_n(const_cast<std::int32_t*>(gate), epoch, __ATOMIC_SEQ_CST);
  if (!pipelined) {  // the cache is flushed first, then the window opens
    const int state = poll_until(page, alive, limit, true, [&] { return shared.marks->opened >= epoch; });
    if (state != kReady) return state;
    opened = Clock::now();
  }
  int state = poll_until(page, alive, limit, true, [&] { return shared.marks->closed >= epoch; });
  const auto closed = Clock::now();
  seen.ms = ms_between(opened, closed);
  if (state != kReady) return state;
  state = poll_until(page, alive, limit, true, [&] { return shared.answers->drained >= epoch; });
  seen.drained_ms = ms_between(closed, Clock::now());
  return state;
}

}  // namespace

extern "C" {

int pl_page_open(int32_t* orders_file, int32_t* answers_file, pl_page** out) {
  return guarded([&] {
    auto made = std::make_unique<pl_page>();
    made->orders_file = memfd_create("plumbline-orders", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    made->answers_file = memfd_create("plumbline-answers", MFD_CLOEXEC);
    if (made->orders_file < 0 || made->answers_file < 0 || ftruncate(made->orders_file, kOrdersBytes) != 0 ||
        ftruncate(made->answers_file, kAnswersBytes) != 0) {
      throw Failure(PL_USAGE, "no shared memory could be made");
    }
    made->page = map_page(made->orders_file, made->answers_file, true);
    // Linux 5.1: whoever maps this from now on cannot write it.
    fcntl(made->orders_file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    *orders_file = made->orders_file;
    *answers_file = made->answers_file;
    *out = made.release();
  });
}

void pl_page_close(pl_page* page) {
  if (page == nullptr) return;
  unmap_page(page->page);
  close(page->orders_file);
  close(page->answers_file);
  delete page;
}

int pl_page_order(pl_page* page, pl_order* order) {
  return guarded([&] {
    const std::size_t size = size_of(order, "pl_order");
    pl_order made = read_sized(order, "pl_order");
    if (made.calls < 1 || made.calls > kMaxCalls) throw Failure(PL_USAGE, "too many calls for one window");
    made.number = page->order.number + 1;
    made.epoch = page->epoch + 1;
    page->epoch += made.kind == PL_PER_CALL ? made.calls : 1;
    page->order = made;
    page->page.orders->order = made;
    write_sized(order, size, made);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  });
}

int pl_page_wait(pl_page* page, int32_t alive, double limit_s, int32_t* state) {
  return guarded([&] {
    *state = poll_until(*page, alive, limit_from(limit_s), true,
                        [&] { return page->page.answers->armed == page->order.epoch; });
  });
}

int pl_page_watch(pl_page* page, int32_t index, int32_t alive, double limit_s, int32_t* state,
                  pl_bracket* out) {
  return guarded([&] {
    const std::size_t size = size_of(out, "pl_bracket");
    pl_bracket seen{};
    *state = watch_window(*page, index, alive, limit_from(limit_s), seen);
    write_sized(out, size, seen);
  });
}

int pl_page_answer(pl_page* page, int32_t alive, double limit_s, int32_t* state, pl_answer* out,
                   pl_reading* readings, double* scripted_ms) {
  return guarded([&] {
    const std::size_t size = size_of(out, "pl_answer");
    const std::size_t step = size_of(readings, "pl_reading");
    const Answers& answers = *page->page.answers;
    *state = poll_until(*page, alive, limit_from(limit_s), false,
                        [&] { return answers.done == page->order.number; });
    if (*state != kReady) return;
    const pl_answer answer = answers.answer;
    write_sized(out, size, answer);
    // As many as were ordered: the answer comes from the other process.
    for (int i = 0; i < std::clamp(answer.calls, 0, page->order.calls); ++i) {
      write_sized(element(readings, step, static_cast<std::size_t>(i)), step, answers.readings[i]);
      scripted_ms[i] = answers.scripted_ms[i];
    }
  });
}

int pl_page_taken(pl_page* page) {
  return guarded([&] {
    __atomic_store_n(const_cast<std::int32_t*>(&page->page.orders->taken), page->order.number,
                     __ATOMIC_SEQ_CST);
  });
}

}  // extern "C"
