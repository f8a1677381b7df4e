// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/json_stream.h"

namespace plumbline::profile {

bool JsonBuffer::refill(const char*& begin, const char*& end) {
  if (base_ + size_ > last_value_ + kMaxValue) {
    too_long_ = true;
  } else {
    const std::size_t got = source_.read(bytes_.data(), kChunk);
    if (got > 0) {
      base_ += size_;
      size_ = got;
      bytes_[got] = '\0';
      begin = bytes_.data();
      end = begin + got;
      return true;
    }
  }
  bytes_[size_] = '\0';
  begin = end = bytes_.data() + size_;
  return false;
}

}  // namespace plumbline::profile
