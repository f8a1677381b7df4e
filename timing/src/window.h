// SPDX-License-Identifier: Apache-2.0
// One window: what is enqueued in which order, and what is read off it.
#pragma once

#include <functional>
#include <vector>

#include "device.h"

namespace plumbline::timing {

/// Enqueues call `index`; throws Failure(PL_CALL_FAILED) when the call reports an error.
using Call = std::function<void(int index)>;
/// Runs between the enqueueing and the opening of a pipelined window.
using Gate = std::function<void()>;
/// Windows that another process ordered: the epoch (per call: of the first), what a per-call window waits for
/// before anything of it happens, and what to do once the device was idle.
struct Ordered {
  int epoch = 0;
  std::function<void(int epoch)> ready;
  std::function<void(int epoch)> drained;
};

/// A reading of which nothing is known yet.
pl_reading blank_reading(int kind, int calls);

/// Each of the calls first..first+count-1 alone between two events on an idle device: host launch tax in.
std::vector<pl_reading> per_call_windows(Device& device, const Call& call, int first, int count, bool cold,
                                         const Ordered* ordered = nullptr);

/// `count` calls enqueued behind a kernel that holds the whole GPU, so that the host never shows and that
/// work on another stream cannot start before the window opens.
pl_reading pipelined_window(Device& device, const Call& call, int count, const Gate& gate, double gate_ms,
                            const Ordered* ordered = nullptr);

/// The harness's own cost on this device now.
pl_overhead measure_overhead(Device& device);

}  // namespace plumbline::timing
