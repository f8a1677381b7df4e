#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The artifacts of both models from every given binary, at 1, 2 and 8 threads, from another directory and in a
# locale with decimal commas: all must be the same bytes.
#   tools/determinism.sh BINARY...      builds of other compilers and optimisation levels
#   tools/determinism.sh --build BINARY builds g++ and clang++ at -O0 and -O2 into build/determinism first
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" = --build ]; then
  shift
  for compiler in g++ clang++-16; do
    for level in O0 O2; do
      folder=$root/build/determinism/$compiler-$level
      launcher=()
      command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
      cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_CXX_FLAGS="-$level" -DPLUMBLINE_TESTS=OFF "${launcher[@]}" > /dev/null
      ninja -C "$folder" plumbline_cli > /dev/null
      set -- "$@" "$folder/plumbline"
    done
  done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/deep er/ä"
comma=C.UTF-8
locale -a 2> /dev/null | grep -qi '^de_DE.utf' && comma=de_DE.UTF-8

# one NAME BINARY DIRECTORY LOCALE THREADS: every artifact of that run as one digest
one() {
  local out=$work/out-$1
  mkdir -p "$out"
  local common=(arch report --model proxy --threads "$5")
  (
    cd "$3"
    export LC_ALL=$4 LANG=$4
    "$2" "${common[@]}" --all-hardware --json-output "$out/all.json" --md-output "$out/all.md"
    for gpu in a100 t4 h100; do
      "$2" arch report --hardware $gpu --schema noeris-1 --threads "$5" --json-output "$out/$gpu.json"
    done
    "$2" --color never arch sweep --hardware a100 --model proxy --dim ffn_dim=8000:8192:7 > "$out/sweep.txt"
    "$2" --json arch rank --hardware t4 --model proxy --threads "$5" --configs "$root/tests/shapes/layers.csv" \
      > "$out/rank.json"
    # The measured model: logarithms, powers and trees must agree too.
    "$2" arch report --hardware h200 --threads "$5" --json-output "$out/measured.json"
    "$2" --json arch rank --hardware h200 --threads "$5" --configs "$root/tests/shapes/layers.csv" \
      > "$out/measured_rank.json"
    "$2" --json arch cliffs --hardware h200 --layer llama3_8b,ffn_dim=14335 --vocab 50257 > "$out/cliffs.json"
  )
  (cd "$out" && sha256sum -- * | sha256sum | cut -d' ' -f1)
}

first=
count=0
for binary in "$@"; do
  binary=$(realpath "$binary")
  for setting in "$root C.UTF-8 1" "/ C.UTF-8 2" "$work/deep er/ä|$comma|8"; do
    IFS=' |' read -r directory locale threads <<< "${setting/deep er/deep@er}"
    digest=$(one $count "$binary" "${directory/deep@er/deep er}" "$locale" "$threads")
    first=${first:-$digest}
    if [ "$digest" != "$first" ]; then
      echo "different bytes: $binary at $threads threads in $directory ($locale)" >&2
      diff -r "$work/out-0" "$work/out-$count" >&2 || true
      exit 1
    fi
    count=$((count + 1))
  done
done
echo "$count runs of $# binaries: the same bytes"
