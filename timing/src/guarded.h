// SPDX-License-Identifier: Apache-2.0
// The C interface: exceptions become a status and a message.
#pragma once

#include <memory>
#include <string>

#include "device.h"

namespace plumbline::timing {
class ScriptedDevice;
}

struct pl_session {
  std::unique_ptr<plumbline::timing::Device> device;
  plumbline::timing::ScriptedDevice* script = nullptr;  // the same object, when it is the fake
};

namespace plumbline::timing {

void set_last_error(std::string text);

inline void require(bool condition, const char* what) {
  if (!condition) throw Failure(PL_USAGE, what);
}

template <class Body>
int guarded(Body&& body) {
  try {
    body();
    return PL_OK;
  } catch (const Failure& failure) {
    set_last_error(failure.what());
    return failure.status();
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return PL_USAGE;
  }
}

}  // namespace plumbline::timing
