// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/hash.h"

#include <gtest/gtest.h>

namespace plumbline {
namespace {

// FIPS 180-2, appendix B: the messages "abc" and a million times "a"; and the empty one.
TEST(Hash, IsSha256) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace plumbline
