// SPDX-License-Identifier: Apache-2.0
// The C interface of sessions, windows and comparisons.
#include <algorithm>
#include <string>
#include <utility>

#include "compare.h"
#include "guarded.h"
#include "plumbline/timing.h"
#include "scripted_device.h"
#include "sized.h"
#include "window.h"

using namespace plumbline::timing;

namespace {

thread_local std::string last_error;

Call wrap(pl_call call, void* user) {
  return [call, user](int index) {
    if (call(user, index) != 0) throw Failure(PL_CALL_FAILED, "the timed call failed");
  };
}

/// The call as the windows take it. Python's own is checked here, once, and not in every call.
Call checked(pl_call call, void* user) {
  if (call == pl_python_call) size_of(static_cast<const pl_python*>(user), "pl_python");
  return wrap(call, user);
}

ScriptedDevice& script_of(pl_session* session) {
  require(session != nullptr && session->script != nullptr, "this session is not a scripted one");
  return *session->script;
}

}  // namespace

void plumbline::timing::set_last_error(std::string text) { last_error = std::move(text); }

extern "C" {

const char* pl_version(void) { return PLUMBLINE_VERSION; }
const char* pl_last_error(void) { return last_error.c_str(); }
const char* pl_describe(void) {
  static thread_local std::string text;
  text = describe_cuda();
  return text.c_str();
}

int pl_open(int32_t ordinal, void* stream, pl_session** out) {
  return guarded([&] {
    require(out != nullptr, "out is null");
    *out = nullptr;
    auto device = open_cuda_device(ordinal, stream);
    *out = new pl_session{std::move(device), nullptr};
  });
}

int pl_open_scripted(pl_session** out) {
  return guarded([&] {
    require(out != nullptr, "out is null");
    auto device = std::make_unique<ScriptedDevice>();
    ScriptedDevice* script = device.get();
    *out = new pl_session{std::move(device), script};
  });
}

void pl_close(pl_session* session) { delete session; }

int pl_info(pl_session* session, pl_device_info* out) {
  return guarded([&] {
    const std::size_t size = size_of(out, "pl_device_info");
    write_sized(out, size, session->device->info());
  });
}

int pl_per_call(pl_session* session, pl_call call, void* user, int32_t first, int32_t count, int32_t cold,
                pl_reading* out) {
  return guarded([&] {
    require(first >= 0 && count >= 1, "a per-call reading needs at least one call");
    const std::size_t size = size_of(out, "pl_reading");
    const auto readings = per_call_windows(*session->device, checked(call, user), first, count, cold != 0);
    for (std::size_t i = 0; i < readings.size(); ++i) write_sized(element(out, size, i), size, readings[i]);
  });
}

int pl_pipelined(pl_session* session, pl_call call, void* user, int32_t count, pl_call gate, double gate_ms,
                 pl_reading* out) {
  return guarded([&] {
    require(count >= 1, "a pipelined window needs at least one call");
    const std::size_t size = size_of(out, "pl_reading");
    Gate wait;
    if (gate != nullptr) {
      const Call inner = checked(gate, user);
      wait = [inner] { inner(-1); };
    }
    write_sized(out, size, pipelined_window(*session->device, checked(call, user), count, wait, gate_ms));
  });
}

int pl_measure_overhead(pl_session* session, pl_overhead* out) {
  return guarded([&] {
    const std::size_t size = size_of(out, "pl_overhead");
    write_sized(out, size, measure_overhead(*session->device));
  });
}
int pl_gpu_processes(pl_session* session, const int32_t* known, int32_t count, int32_t* all,
                     int32_t* foreign) {
  return guarded([&] {
    *all = *foreign = -1;
    const auto pids = session->device->processes();
    if (!pids) return;
    *all = static_cast<int32_t>(pids->size());
    *foreign = 0;
    for (const unsigned pid : *pids) {
      const bool ours = std::find(known, known + count, static_cast<int32_t>(pid)) != known + count;
      *foreign += ours ? 0 : 1;
    }
  });
}
int pl_flush(pl_session* session) {
  return guarded([&] { session->device->flush(); });
}
int pl_drain(pl_session* session) {
  return guarded([&] { session->device->drain(); });
}
int pl_spin(pl_session* session, uint64_t ticks, uint64_t stamps) {
  return guarded([&] { session->device->spin(ticks, stamps); });
}

int pl_alloc(pl_session* session, uint64_t bytes, uint64_t* address) {
  return guarded([&] {
    require(bytes > 0, "nothing to allocate");
    *address = session->device->alloc(bytes);
  });
}
int pl_free(pl_session* session, uint64_t address) {
  return guarded([&] { session->device->free(address); });
}
int pl_fill(pl_session* session, uint64_t address, uint32_t word, uint64_t bytes) {
  return guarded([&] { session->device->fill(address, word, bytes); });
}
int pl_copy(pl_session* session, uint64_t to, uint64_t from, uint64_t bytes) {
  return guarded([&] { session->device->copy(to, from, bytes); });
}
int pl_read(pl_session* session, void* to, uint64_t from, uint64_t bytes) {
  return guarded([&] { session->device->read(to, from, bytes); });
}
int pl_share(pl_session* session, uint64_t address, unsigned char handle[64]) {
  return guarded([&] { session->device->share(address, handle); });
}
int pl_attach(pl_session* session, const unsigned char handle[64], uint64_t* address) {
  return guarded([&] { *address = session->device->attach(handle); });
}
int pl_detach(pl_session* session, uint64_t address) {
  return guarded([&] { session->device->detach(address); });
}

int pl_default_options(pl_options* out) {
  return guarded([&] {
    const std::size_t size = size_of(out, "pl_options");
    write_sized(out, size, default_options());
  });
}

int pl_compare(pl_session* session, pl_window window, void* user, const pl_options* options,
               pl_comparison* out, double* reference_ms, double* student_ms, int32_t* kept, int32_t capacity,
               int32_t* count) {
  return guarded([&] {
    const pl_options rules = read_sized(options, "pl_options", default_options());
    const std::size_t size = size_of(out, "pl_comparison");
    const WindowSource source = [window, user](int side, int phase, int round) {
      pl_reading reading = blank_reading(PL_PIPELINED, 1);
      if (window(user, side, phase, round, &reading) != 0) throw Failure(PL_CALL_FAILED, "a window failed");
      size_of(&reading, "pl_reading");
      return reading;
    };
    // The fake's own clock, so that a test of the time limit takes no time.
    const auto now = [session] { return session->device->host_ns() * 1e-9; };
    const Outcome outcome = compare(source, rules, now);
    write_sized(out, size, outcome.summary);
    int32_t written = 0;
    for (const Round& round : outcome.rounds) {
      for (int i = 0; i < 2 && written < capacity; ++i, ++written) {
        reference_ms[written] = round.reference_ms[i];
        student_ms[written] = round.student_ms[i];
        if (kept != nullptr) kept[written] = round.dropped ? 0 : 1;
      }
    }
    if (count != nullptr) *count = written;
  });
}

int pl_script_work(pl_session* session, double ns, int32_t other_stream) {
  return guarded([&] { script_of(session).work(ns, other_stream != 0); });
}
int pl_script_host(pl_session* session, double ns) {
  return guarded([&] { script_of(session).host_takes(ns); });
}
int pl_script_clocks(pl_session* session, const double* mhz, int32_t count) {
  return guarded([&] {
    require(count >= 1, "no clock");
    script_of(session).clocks({mhz, mhz + count});
  });
}
int pl_script_reasons(pl_session* session, const int32_t* reasons, int32_t count) {
  return guarded([&] {
    require(count >= 1, "no reason");
    script_of(session).reasons({reasons, reasons + count});
  });
}
int pl_script_synchronize(pl_session* session) {
  return guarded([&] { script_of(session).synchronize(); });
}

}  // extern "C"
