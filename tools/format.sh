#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format over every C++ file: rewrites, or with --check fails on a difference.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=-i
[ "${1:-}" != --check ] || mode="--dry-run --Werror"
# shellcheck disable=SC2086
find src timing tests benchmarks -name '*.h' -o -name '*.cpp' | sort | xargs clang-format $mode
echo "format: fine"
