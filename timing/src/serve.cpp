// SPDX-License-Identifier: Apache-2.0
// The measured process's side of a window that the harness ordered. Between the order and the answer nothing
// of Python runs but the timed calls themselves: the interpreter lock is held, outputs are captured where
// they are returned and copied from there by the driver, and what was read stays in this library's memory.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "guarded.h"
#include "python_calls.h"
#include "sized.h"
#include "window.h"

using namespace plumbline::timing;

struct pl_server {
  Device* device = nullptr;
  bool scripted = false;
  Page page;
  OutputReader reader;
  std::vector<Object> callables;
  std::vector<std::uint64_t> written;  ///< per set and output, where calls write in place
  std::uint64_t outbox = 0;
  std::uint64_t slot_bytes = 0;
  int slots = 0;
  std::vector<std::pair<Object, Object>> guards;
};

namespace {

/// What the calls of one window returned, kept until it is copied.
struct Returned {
  std::vector<Object> results;
  std::vector<std::vector<Captured>> outputs;
  std::vector<pl_problem> problems;

  ~Returned() {
    for (Object result : results) python().drop(result);
  }
};

void read_outputs(const pl_server& server, const pl_order& order, Object result, int set,
                  Returned& returned) {
  const int number = static_cast<int>(returned.outputs.size());
  if (order.collect == 0 || server.reader.specs().empty()) return;
  if (server.written.empty()) {
    returned.outputs.push_back(server.reader.read(result, number, returned.problems));
    return;
  }
  std::vector<Captured> captured;
  const auto& specs = server.reader.specs();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Captured one;
    one.address = server.written[static_cast<std::size_t>(set) * specs.size() + i];
    one.item_bytes = specs[i].item_bytes;
    one.dims = specs[i].dims;
    std::copy(specs[i].shape, specs[i].shape + one.dims, one.shape);
    std::copy(specs[i].strides, specs[i].strides + one.dims, one.strides);
    captured.push_back(one);
  }
  returned.outputs.push_back(std::move(captured));
}

int copy_outputs(pl_server& server, const Returned& returned) {
  if (server.outbox == 0 || !returned.problems.empty()) return 0;
  int copied = 0;
  const auto& specs = server.reader.specs();
  for (std::size_t call = 0; call < returned.outputs.size() && static_cast<int>(call) < server.slots;
       ++call) {
    for (std::size_t i = 0; i < returned.outputs[call].size(); ++i, ++copied) {
      const Captured& one = returned.outputs[call][i];
      Layout layout{};
      layout.dims = one.dims;
      for (int d = 0; d < one.dims; ++d) {
        layout.sizes[d] = static_cast<std::uint64_t>(one.shape[d]);
        layout.strides[d] = one.strides[d];
      }
      server.device->gather(
          server.outbox + call * server.slot_bytes + static_cast<std::uint64_t>(specs[i].offset), one.address,
          layout, one.item_bytes);
    }
  }
  server.device->drain();
  return copied;
}

int look_at_guards(const pl_server& server) {
  const Python& py = python();
  int raised = 0;
  for (std::size_t i = 0; i < server.guards.size() && i < 31; ++i) {
    Object now = py.call(server.guards[i].first, nullptr);
    // Small integers, None and booleans are one object each.
    if (now != server.guards[i].second) raised |= 1 << i;
    if (now != nullptr) py.drop(now);
    py.clear_error();
  }
  return raised;
}

void run_window(pl_server& server, const pl_order& order, pl_answer& answer) {
  const Python& py = python();
  Answers& shared = *server.page.answers;
  Returned returned;
  returned.results.reserve(static_cast<std::size_t>(order.calls));
  returned.outputs.reserve(static_cast<std::size_t>(order.calls));
  const auto sets = static_cast<int>(server.callables.size());
  const Call call = [&](int index) {
    const int set = (order.first + index) % sets;
    Object result = py.call(server.callables[static_cast<std::size_t>(set)], nullptr);
    if (result == nullptr) throw Failure(PL_CALL_FAILED, "the timed call raised");
    returned.results.push_back(result);
    read_outputs(server, order, result, set, returned);
  };
  const Ordered ordered{order.epoch,
                        [&](int epoch) {
                          while (server.page.orders->gate < epoch) usleep(10);
                        },
                        [&](int epoch) {
                          __atomic_store_n(const_cast<std::int32_t*>(&shared.drained), epoch,
                                           __ATOMIC_SEQ_CST);
                        }};
  std::vector<pl_reading> readings;
  if (order.kind == PL_PIPELINED) {
    const Gate arm = [&] {
      __atomic_store_n(const_cast<std::int32_t*>(&shared.armed), order.epoch, __ATOMIC_SEQ_CST);
    };
    if (order.cold != 0) server.device->flush();
    // The harness may take its time to bring the inputs: 20 s, then the window is lost.
    readings = {pipelined_window(*server.device, call, order.calls, arm, 20000, &ordered)};
  } else {
    readings = per_call_windows(*server.device, call, 0, order.calls, order.cold != 0, &ordered);
  }
  answer.copied = copy_outputs(server, returned);
  answer.calls = static_cast<std::int32_t>(readings.size());
  answer.problems = static_cast<std::int32_t>(returned.problems.size());
  for (std::size_t i = 0; i < returned.problems.size() && i < static_cast<std::size_t>(kMaxProblems); ++i)
    answer.problem[i] = returned.problems[i];
  for (std::size_t i = 0; i < readings.size(); ++i) {
    shared.readings[i] = readings[i];
    shared.scripted_ms[i] = server.scripted ? readings[i].window_ms : 0;
  }
  answer.guards = look_at_guards(server);
}

}  // namespace

extern "C" {

int pl_serve_open(pl_session* session, int32_t orders_file, int32_t answers_file, pl_server** out) {
  return guarded([&] {
    auto made = std::make_unique<pl_server>();
    made->device = session->device.get();
    made->scripted = session->script != nullptr;
    made->page = map_page(orders_file, answers_file, false);
    close(orders_file);
    close(answers_file);
    made->device->serve(made->page);
    // The GPU alone writes the marks: this process has no business there.
    if (!made->scripted) mprotect(made->page.marks, kPage, PROT_NONE);
    *out = made.release();
  });
}

int pl_serve_library(pl_server* server, void* probes, void* containers) {
  return guarded([&] { server->reader.library(probes, containers); });
}

int pl_serve_outputs(pl_server* server, const unsigned char* handle, int32_t slots, uint64_t stride,
                     const pl_output_spec* specs, int32_t count) {
  return guarded([&] {
    const std::size_t step = count > 0 ? size_of(specs, "pl_output_spec") : 0;
    std::vector<pl_output_spec> forms;
    for (int32_t i = 0; i < count; ++i) {
      pl_output_spec form{};
      std::memcpy(static_cast<void*>(&form), element(specs, step, static_cast<std::size_t>(i)), step);
      form.struct_size = sizeof form;
      forms.push_back(form);
    }
    if (server->outbox != 0) server->device->detach(server->outbox);
    server->outbox = 0;
    server->reader.outputs(std::move(forms));
    server->slots = slots;
    server->slot_bytes = stride;
    if (handle != nullptr) server->outbox = server->device->attach(handle);
  });
}

int pl_serve_calls(pl_server* server, void* callables, const uint64_t* written) {
  return guarded([&] {
    const Python& py = python();
    for (Object one : server->callables) py.drop(one);
    server->callables.clear();
    server->written.clear();
    const std::ptrdiff_t size = py.list_size(callables);
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      Object one = py.list_item(callables, i);
      py.keep(one);
      server->callables.push_back(one);
    }
    if (written != nullptr)
      server->written.assign(written,
                             written + static_cast<std::size_t>(size) * server->reader.specs().size());
  });
}

int pl_serve_guards(pl_server* server, void* guards) {
  return guarded([&] {
    const Python& py = python();
    py.keep(guards);
    for (std::ptrdiff_t i = 0; i < py.list_size(guards); ++i) {
      Object pair = py.list_item(guards, i);
      py.keep(pair);
      server->guards.emplace_back(py.tuple_item(pair, 0), py.tuple_item(pair, 1));
    }
  });
}

int pl_serve_window(pl_server* server) {
  const pl_order order = server->page.orders->order;
  pl_answer answer{};
  answer.number = order.number;
  const int status = guarded([&] {
    require(!server->callables.empty() && order.calls >= 1 && order.calls <= kMaxCalls,
            "there is nothing to call");
    run_window(*server, order, answer);
  });
  answer.status = status;
  server->page.answers->answer = answer;
  __atomic_store_n(const_cast<std::int32_t*>(&server->page.answers->done), order.number, __ATOMIC_SEQ_CST);
  // Threads, signal handlers and hooks of the student wait for the interpreter lock, which is held here,
  // until the harness has its own copy of what the calls left. A harness that is gone ends this process.
  if (status == PL_OK) {
    while (server->page.orders->taken != order.number) usleep(10);
  }
  return status;
}

int pl_serve_wait(int32_t file) {
  pollfd one{file, POLLIN, 0};
  while (poll(&one, 1, -1) < 0 && errno == EINTR) {
  }
  return PL_OK;
}

}  // extern "C"
