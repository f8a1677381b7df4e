#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare Debian 12 to a real comparison, judged: installs, builds, and runs the main job on recorded data.
set -euo pipefail
cd "$(dirname "$0")"
say() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9;]*m//g'; }; }
started=$SECONDS

say "1. What this machine lacks"
tools/install.sh build
echo "nothing is missing"

say "2. Building the tool"
cmake --preset quick $(command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache) >build.log 2>&1 || { cat build.log; exit 1; }
cmake --build --preset quick --target plumbline_cli >>build.log 2>&1 || { tail -n 40 build.log; exit 1; }
rm -f build.log
plumbline=build/quick/plumbline
$plumbline --version

# Runs a command, shows it, and holds it to the exit status that it must end with.
step() {
  local want=$1 status=0
  shift
  printf '\n$ plumbline %s\n' "$*"
  "$plumbline" "$@" || status=$?
  echo "(exit status $status)"
  [ "$status" = "$want" ] || { echo "expected exit status $want" >&2; exit 1; }
}

say "3. A card whose boundary is not declared: refused before anything runs"
step 13 start operators/rmsnorm_residual

say "4. A card that declares it: the student rebuilds what the reference is handed"
step 0 window show operators/attention_backward

say "5. The recorded H200 run, judged: under the gate of 1.0, and why"
step 1 confirm operators/attention_backward

say "Done in $((SECONDS - started)) s. The tool is $plumbline; the next page to read is docs/README.md."
