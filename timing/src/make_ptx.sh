#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rebuilds kernels_ptx.h from kernels.cu. Needs nvcc; run by hand after a change of kernels.cu.
# The PTX is labelled with the oldest version and target that its instructions need (nanosleep: 6.3, sm_70), so
# that drivers older than the nvcc used here accept it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ptx=$(mktemp)
trap 'rm -f "$ptx"' EXIT
nvcc -ptx -arch=compute_75 -o "$ptx" "$here/kernels.cu"
{
  echo '// SPDX-License-Identifier: Apache-2.0'
  echo '// Made from kernels.cu by make_ptx.sh. Do not edit.'
  echo '#pragma once'
  echo
  echo 'namespace plumbline::timing {'
  echo
  echo 'inline constexpr char kKernelsPtx[] = R"ptx('
  grep -v '^//' "$ptx" | sed -e 's/^\.version .*/.version 6.4/' -e 's/^\.target .*/.target sm_70/' -e '/^\t\/\/ \(begin\|end\) inline asm$/d' |
    sed -e '/./,$!d'
  echo ')ptx";'
  echo
  echo '}  // namespace plumbline::timing'
} > "$here/kernels_ptx.h"
