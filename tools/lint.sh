#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy with the short list of .clang-tidy over the sources of a configured build (default build/release).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
find src -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet
