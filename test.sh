#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs, builds and runs every test: g++ -O2 with warnings as errors, then clang with AddressSanitizer and UBSan.
#   ./test.sh            everything
#   ./test.sh release    the g++ build alone
#   ./test.sh asan       the sanitizer build alone
set -euo pipefail
cd "$(dirname "$0")"
jobs=${PLUMBLINE_JOBS:-$(nproc)}
launcher=$(command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache || true)

tools/install.sh test

run_preset() {
  echo "== $1: configure and build"
  # shellcheck disable=SC2086
  cmake --preset "$1" $launcher >"build-$1.log" 2>&1 || { cat "build-$1.log"; exit 1; }
  cmake --build --preset "$1" -j "$jobs" ${2:+--target $2} >>"build-$1.log" 2>&1 || { grep -E 'error|warning' -A6 "build-$1.log" | head -n 80; exit 1; }
  rm -f "build-$1.log"
  echo "== $1: test"
  ctest --preset "$1" -j "$jobs" --output-on-failure
}

case ${1:-all} in
  release) run_preset release ;;
  asan) run_preset asan ;;
  all)
    run_preset release "all all_verify_interface_header_sets"
    tools/format.sh --check
    run_preset asan
    ;;
  *) echo "usage: ./test.sh [release|asan]" >&2; exit 2 ;;
esac
