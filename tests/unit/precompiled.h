// SPDX-License-Identifier: Apache-2.0
// What most unit tests include, compiled once for each executable.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/files.h"
#include "plumbline/base/precompiled.h"
