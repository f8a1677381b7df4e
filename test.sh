#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs, builds and runs every test: g++ -O2 with warnings as errors builds the tool and runs it through golden,
# conformance, package and Python tests; clang with AddressSanitizer and UBSan runs every unit test, golden, conformance
# and whatever reads hostile input.
#   ./test.sh            everything, once
#   ./test.sh release    the g++ build only
#   ./test.sh asan       the sanitizer build only
#   ./test.sh full       the whole matrix: also every unit test and benchmark by g++, honest input under the sanitizers,
#                        the fuzz targets built, and the same bytes of both compilers at -O0 and -O2
set -euo pipefail
cd "$(dirname "$0")"
jobs=${PLUMBLINE_JOBS:-$(nproc)}
launcher=$(command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache || true)

took() { echo "   $1: $((SECONDS - since)) s"; since=$SECONDS; }
since=$SECONDS

tools/install.sh test
took "packages"
# Chromium comes while the tool is built.
tools/install.sh browser >build-browser.log 2>&1 &
browser=$!

run_preset() {
  echo "== $1"
  # shellcheck disable=SC2086
  cmake --preset "$1" $launcher >"build-$1.log" 2>&1 || { cat "build-$1.log"; exit 1; }
  # shellcheck disable=SC2086
  cmake --build --preset "$1" -j "$jobs" ${2:+--target $2} >>"build-$1.log" 2>&1 ||
    { grep -E 'error|warning' -A6 "build-$1.log" | head -n 80; exit 1; }
  rm -f "build-$1.log"
  took "build"
  if [ -n "${browser:-}" ]; then
    wait "$browser" || { cat build-browser.log; exit 1; }
    browser=
    rm -f build-browser.log
    took "waiting for the browser"
  fi
  # One more than there are processors: the pages' and the harness's tests wait for most of their time.
  ctest --preset "$1" -j $((jobs + 1)) --output-on-failure ${3:-}
  took "tests"
}

case ${1:-all} in
  release) run_preset release ;;
  asan) run_preset asan "" "-LE honest" ;;
  all)
    run_preset release
    tools/format.sh --check
    run_preset asan "" "-LE honest"
    tools/determinism.sh build/release/plumbline build/asan/plumbline
    took "bytes of both compilers"
    ;;
  full)
    run_preset full "all all_verify_interface_header_sets"
    tools/format.sh --check
    run_preset asan
    cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j "$jobs" | tail -n 1
    took "fuzz targets"
    tools/determinism.sh --build build/full/plumbline build/asan/plumbline
    took "bytes of both compilers"
    ;;
  *) echo "usage: ./test.sh [release|asan|full]" >&2; exit 2 ;;
esac
